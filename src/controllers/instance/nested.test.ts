import { describe, expect, it } from 'vitest';
import type { Box } from '../../api/box.ts';
import { changedBelow, comparable, NESTED_LIMIT, nestedDrafts } from './nested.ts';

const box = (name: string, ...below: string[]): Box =>
  ({
    metadata: { name },
    spec: { variables: below.map((other) => ({ name: other, type: 'Box', boxRef: { name: other } })) },
    status: { draftHash: `key:${name}` },
  }) as unknown as Box;

function draftsOf(top: Box, ...others: Box[]): string[] {
  const all = new Map([top, ...others].map((one) => [one.metadata.name, one]));
  return nestedDrafts(top, ({ boxRef }) => all.get(boxRef?.name ?? '')).map(({ name }) => name);
}

describe('the boxes below a box', () => {
  it('are found at any depth, each once, round a circle as well', () => {
    expect(draftsOf(box('a', 'b', 'c'), box('b', 'c', 'd'), box('c'), box('d', 'a'))).toEqual([
      'b',
      'c',
      'd',
    ]);
  });

  it('are bounded', () => {
    const names = Array.from({ length: 2 * NESTED_LIMIT }, (_, index) => `n${index}`);
    const chain = names.map((name, index) => box(name, ...names.slice(index + 1, index + 2)));
    expect(draftsOf(box('top', 'n0'), ...chain)).toHaveLength(NESTED_LIMIT);
    // Also where none is in place yet.
    let looked = 0;
    const unmade = new Map(chain.map((one) => [one.metadata.name, { ...one, status: {} } as Box]));
    nestedDrafts(box('top', 'n0'), ({ boxRef }) => {
      looked += 1;
      return unmade.get(boxRef?.name ?? '');
    });
    expect(looked).toBeLessThanOrEqual(NESTED_LIMIT + 1);
  });
});

describe('a nested box', () => {
  const now = [{ name: 'b', draftHash: 'key:2' }];

  it('has changed where it has another hash under the same key', () => {
    const installed = { id: 'i', draftHash: 'key:0', nested: [{ name: 'b', draftHash: 'key:1' }] };
    expect(changedBelow(installed, now)).toEqual(['b']);
    expect(comparable(installed, now)).toEqual(installed);
  });

  it('that was not noted, or under a lost key, is compared from now on', () => {
    const lost = { id: 'i', draftHash: 'key:0', nested: [{ name: 'b', draftHash: 'lost:1' }] };
    for (const installed of [lost, { id: 'i', draftHash: 'key:0' }]) {
      expect(changedBelow(installed, now)).toEqual([]);
      expect(comparable(installed, now).nested).toEqual(now);
    }
  });
});
