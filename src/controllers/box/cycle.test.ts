import { describe, expect, it } from 'vitest';
import { containedIn, misnesting, NESTING_LIMIT, type FindNested, type Nesting } from './cycle.ts';

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

/** The way round, where there is one. */
function boxCycle(start: Nesting, find: FindNested): string[] | undefined {
  const wrong = misnesting(start, find);
  return wrong?.kind === 'cycle' ? wrong.path : undefined;
}

const name = (index: number): string => `b${index}`;

/** A chain of boxes, each of which contains the next, and how to find them. */
function chain(length: number): { first: Nesting; last: Nesting; find: FindNested } {
  const boxes = new Map(
    Array.from({ length }, (_, i) => [name(i), box(name(i), ...(i + 1 < length ? [ref(name(i + 1))] : []))]),
  );
  const find: FindNested = ({ boxRef }) => boxes.get(boxRef?.name ?? '');
  return { first: boxes.get(name(0)) as Nesting, last: boxes.get(name(length - 1)) as Nesting, find };
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

  it('are followed so far, and no further', () => {
    const { levels, boxes } = NESTING_LIMIT;
    const fits = chain(levels + 1);
    expect(misnesting(fits.first, fits.find)).toBeUndefined();
    const deep = chain(levels + 2);
    expect(misnesting(deep.first, deep.find)).toMatchObject({ kind: 'tooMany' });
    const wide = box('a', ...Array.from({ length: boxes + 1 }, (_, i) => ref(`b${i}`)));
    expect(misnesting(wide, among())).toEqual({ kind: 'tooMany', path: ['a', `b${boxes}`] });
  });

  // S5
  it('are looked at as far as they count in a chain of 5,000, seen from any of them', () => {
    const long = chain(5_000);
    let finds = 0;
    const find: FindNested = (variable) => {
      finds += 1;
      return long.find(variable);
    };
    expect(misnesting(long.first, find)?.kind).toBe('tooMany');
    expect(finds).toBeLessThanOrEqual(NESTING_LIMIT.levels + 1);
  });

  it('are known at any depth where two are deleted together', () => {
    const long = chain(5_000);
    expect(containedIn(long.first, long.find)('b4999')).toBe(true);
    expect(containedIn(long.last, long.find)('b0')).toBe(false);
  });

  it('are gone through once, however many others that are deleted name the box, and so far only', () => {
    const dense = new Map(
      Array.from({ length: 2_000 }, (_, i) => {
        const bindings = Array.from({ length: 100 }, (__, j) => name((i * 7 + j * 13 + 1) % 2_000));
        return [name(i), box(name(i), ...bindings.map((to) => ({ ...ref(to), type: 'Binding' as const })))];
      }),
    );
    let finds = 0;
    const contains = containedIn(dense.get(name(0)) as Nesting, ({ boxRef }) => {
      finds += 1;
      return dense.get(boxRef?.name ?? '');
    });
    for (let i = 0; i < 1_000; i++) expect(contains(`user-${i}`)).toBe(false);
    expect(finds).toBeLessThanOrEqual(2_100);

    let more = 0;
    const endless = containedIn(box('a', id('A0')), () => {
      more += 1;
      return box(name(more), id(`A${more}`));
    });
    for (let i = 0; i < 1_000; i++) expect(endless(`user-${i}`)).toBe(true);
    expect(more).toBeLessThanOrEqual(20_000);
  });
});
