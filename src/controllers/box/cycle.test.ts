import { describe, expect, it } from 'vitest';
import { boxCycle, type FindNested, type Nesting } from './cycle.ts';

type Variable = Nesting['spec']['variables'][number];

const ref = (name: string): Variable => ({ name: 'x', type: 'Box', boxRef: { name } }) as Variable;
const id = (boxId: string): Variable => ({ name: 'x', type: 'Box', boxId }) as Variable;
const box = (name: string, ...variables: Variable[]): Nesting =>
  ({ metadata: { name }, spec: { variables } }) as Nesting;

/** The id of each box is its name in capitals. */
function among(...boxes: Nesting[]): FindNested {
  return ({ boxRef, boxId }) =>
    boxes.find(({ metadata }) => metadata.name === boxRef?.name || metadata.name.toUpperCase() === boxId);
}

describe('the boxes that a box contains', () => {
  it('make no circle where two of them contain the same one', () => {
    const boxes = [box('a', ref('b'), ref('c')), box('b', ref('d')), box('c', ref('d')), box('d')];
    expect(boxCycle(boxes[0] as Nesting, among(...boxes))).toBeUndefined();
  });

  it('are named in order when the last of them contains the first', () => {
    const boxes = [box('a', ref('b')), box('b', ref('c')), box('c', ref('a'))];
    expect(boxCycle(boxes[0] as Nesting, among(...boxes))).toEqual(['a', 'b', 'c', 'a']);
  });

  it('make a circle by id as by name', () => {
    const boxes = [box('a', ref('b')), box('b', id('A'))];
    expect(boxCycle(boxes[0] as Nesting, among(...boxes))).toEqual(['a', 'b', 'a']);
    expect(boxCycle(boxes[1] as Nesting, among(...boxes))).toEqual(['b', 'a', 'b']);
  });

  it('are not followed into a circle that the box itself is not part of', () => {
    const boxes = [box('a', ref('b')), box('b', ref('c')), box('c', ref('b'))];
    expect(boxCycle(boxes[0] as Nesting, among(...boxes))).toBeUndefined();
  });

  it('may be missing, foreign, or not fit their schema', () => {
    const broken = { metadata: { name: 'c' }, problems: [{}] } as unknown as Nesting;
    const a = box('a', ref('missing'), id('FOREIGN'), ref('c'));
    expect(boxCycle(a, among(a, broken))).toBeUndefined();
    expect(boxCycle(box('a', ref('a')), among())).toEqual(['a', 'a']);
  });
});
