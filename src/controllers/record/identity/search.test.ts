import { describe, expect, it } from 'vitest';
import { searchByMarker, type Candidate, type SearchFailure, type SearchOutcome } from './search.ts';

const mine = (id: string, more: Partial<Candidate> = {}): Candidate => ({
  id,
  marked: true,
  named: false,
  ...more,
});
const other = (id: string, more: Partial<Candidate> = {}): Candidate => mine(id, { marked: false, ...more });

function search(
  candidates: Candidate[],
  more: { fresh?: Record<string, Candidate | 'gone' | undefined>; skip?: string[]; claimed?: string[] } = {},
): Promise<SearchOutcome | SearchFailure> & { reads: string[]; asked: string[] } {
  const reads: string[] = [];
  const asked: string[] = [];
  const done = searchByMarker({
    candidates,
    skip: more.skip ?? [],
    isClaimed: (id) => {
      asked.push(id);
      return more.claimed?.includes(id) === true;
    },
    read: (id) => {
      reads.push(id);
      const { fresh = {} } = more;
      return Promise.resolve(id in fresh ? fresh[id] : candidates.find((entry) => entry.id === id));
    },
  });
  return Object.assign(done, { reads, asked });
}

describe('a search by marker', () => {
  it('finds the one that carries it, after a fresh single read of that one alone', async () => {
    const found = search([other('a'), mine('b'), other('c')]);
    expect(await found).toEqual({ kind: 'one', id: 'b' });
    expect(found.reads).toEqual(['b']);
  });

  it('takes two entries of one record for one', async () => {
    const found = search([mine('a'), mine('a')]);
    expect(await found).toEqual({ kind: 'one', id: 'a' });
    expect(found.reads).toEqual(['a']);
  });

  it('finds none among strangers, and neither reads them nor asks whose they are', async () => {
    const found = search([other('a'), other('b')]);
    expect(await found).toEqual({ kind: 'none' });
    expect(found.reads).toEqual([]);
    expect(found.asked).toEqual([]);
  });

  it('reads an entry that lacks its tags, and concludes nothing when that brings no tags either', async () => {
    const lean = { id: 'a', marked: undefined, named: false };
    expect(await search([lean], { fresh: { a: mine('a') } })).toEqual({ kind: 'one', id: 'a' });
    expect(await search([lean], { fresh: { a: other('a') } })).toEqual({ kind: 'none' });
    expect(await search([lean])).toMatchObject({ kind: 'unknown' });
    expect(await search([lean], { fresh: { a: undefined } })).toMatchObject({ kind: 'unknown' });
  });

  it('does not count an entry that is gone when it is read singly', async () => {
    expect(await search([mine('a')], { fresh: { a: 'gone' } })).toEqual({ kind: 'none' });
  });

  it('leaves a record alone that another resource here claims', async () => {
    expect(await search([mine('a')], { claimed: ['a'] })).toEqual({ kind: 'none' });
  });

  it('names all of several', async () => {
    expect(await search([mine('a'), mine('b')])).toEqual({ kind: 'several', ids: ['a', 'b'] });
  });

  it('waits for one on its way out, skips ended ones, and prefers one that lives', async () => {
    const ending = mine('a', { ending: 'terminating' });
    const ended = mine('b', { ending: 'terminated' });
    expect(await search([ending, ended])).toEqual({ kind: 'terminating', id: 'a' });
    expect(await search([ended])).toEqual({ kind: 'terminated', ids: ['b'] });
    expect(await search([ended], { skip: ['b'] })).toEqual({ kind: 'none' });
    expect(await search([ending, ended, mine('c')])).toEqual({ kind: 'one', id: 'c' });
  });

  it('tells that the final name is taken, unless the list is older than the end of that record', async () => {
    const named = other('a', { named: true });
    expect(await search([named])).toEqual({ kind: 'nameTaken', id: 'a' });
    expect(await search([named], { fresh: { a: 'gone' } })).toEqual({ kind: 'none' });
    expect(await search([named], { fresh: { a: undefined } })).toMatchObject({ kind: 'unknown' });
    expect(await search([named, mine('b')])).toEqual({ kind: 'one', id: 'b' });
  });
});
