import { describe, expect, it } from 'vitest';
import type { Rival } from '../claims.ts';
import { AbsenceLog, type Existence } from '../existence.ts';
import { decideRecord } from './decide.ts';
import type { RecordObservation, RecordStep } from './observation.ts';
import type { Adoptee } from '../looks/adoption.ts';
import { MAX_SKIP, type CreateIntent } from '../identity/intent.ts';
import type { SearchOutcome } from '../identity/search.ts';
import type { SentOutcome } from '../memory.ts';
import { verdict } from '../status/verdict.ts';

interface Rec {
  id: string;
}
type Seen = RecordObservation<Rec, string>;
type Step = RecordStep<Rec, string>;

/** A resource that was never handled, on a connection that is ready. */
function seen(more: Partial<Seen> = {}): Seen {
  return {
    noun: 'box',
    plural: 'boxes',
    deleting: false,
    hasFinalizer: true,
    orphan: false,
    observeOnly: false,
    paused: false,
    isProtected: false,
    underway: false,
    unconfirmed: undefined,
    claim: { kind: 'none' },
    statusId: false,
    rival: () => undefined,
    isMarked: () => false,
    restore: false,
    isBorrowed: false,
    adopt: undefined,
    former: [],
    connection: { kind: 'ready' },
    created: undefined,
    intent: undefined,
    intentFits: () => true,
    onMissing: 'Recreate',
    users: [],
    refusal: () => undefined,
    isOver: () => false,
    recreation: () => undefined,
    inStep: () => true,
    desired: { kind: 'ready', desired: 'wanted' },
    ...more,
  };
}

const decide = (more: Partial<Seen>): Step => decideRecord(seen(more));
const reason = (step: Step): string => (step.do === 'report' ? step.verdict.reason : step.do);
const MINE = { kind: 'mine', id: 'r1', restore: false } as const;
const FOREIGN = { kind: 'conflict', message: 'of another installation' } as const;
const VOID = { kind: 'void', message: 'copied', id: 'r1' } as const;
/** Another that comes first, however the record looks. */
const rival = (more: Partial<Rival> = {}): Seen['rival'] => {
  return () => ({ name: 'Box "other"', isTie: false, isBeyondDoubt: false, ...more });
};
/** One that may come first until the record is read. */
const TIE: Seen['rival'] = (record) => (record === undefined ? rival({ isTie: true })(record) : undefined);
const found: NonNullable<Seen['existence']> = {
  kind: 'seen',
  value: { kind: 'found', record: { id: 'r1' }, startedAt: 0 },
  startedAt: 0,
};
const lookedFor = (value: SearchOutcome, startedAt = 0): NonNullable<Seen['search']> => ({
  kind: 'seen',
  value,
  startedAt,
});
const intended = (outcome: SentOutcome, more: Partial<CreateIntent> = {}): Seen['intent'] => ({
  intent: { at: '2026-01-01T00:00:00Z', try: 1, skip: [], ...more },
  outcome,
  concludeFrom: 90_000,
  concludeFromBare: 330_000,
});
const looked = (value: Adoptee<Rec>): NonNullable<Seen['restored']> => ({
  kind: 'seen',
  value,
  startedAt: 0,
});
function absent(): Existence<Rec> {
  const log = new AbsenceLog();
  const look = { id: 'i-1', missing: true, workspaceReadable: true, listed: false };
  for (const startedAt of [0, 10_000]) log.note({ ...look, startedAt }, 0);
  return log.note({ ...look, startedAt: 20_000 }, 0);
}

describe('creating', () => {
  it('looks first, writes the intent, creates, and claims what the create was answered with', () => {
    expect(decide({})).toEqual({ do: 'look', at: 'search' });
    expect(decide({ search: lookedFor({ kind: 'none' }) })).toMatchObject({
      do: 'writeIntent',
      try: 1,
      skip: [],
    });
    expect(decide({ intent: intended('unsent') })).toMatchObject({ do: 'create' });
    expect(decide({ intent: intended('unsent'), hasFinalizer: false })).toMatchObject({ do: 'writeIntent' });
    expect(decide({ intent: intended('unknown'), created: 'r1' })).toEqual({ do: 'claim', id: 'r1' });
  });

  it('sends no second create before the wait is over, counted from when this process saw the intent', () => {
    const early = { intent: intended('unknown'), search: lookedFor({ kind: 'none' }, 89_999) };
    expect(reason(decide(early))).toBe('Creating');
    expect(decide({ ...early, search: lookedFor({ kind: 'none' }, 90_000) })).toMatchObject({
      do: 'writeIntent',
      try: 2,
      outcome: 'unsent',
    });
  });

  it('goes on waiting for a create of unknown outcome when ended records of an earlier life turn up', () => {
    const step = decide({
      intent: intended('unknown'),
      search: lookedFor({ kind: 'terminated', ids: ['old'] }, 1_000),
    });
    expect(step).toMatchObject({ do: 'writeIntent', skip: ['old'], try: 1, outcome: 'unknown' });
    expect(decide({ search: lookedFor({ kind: 'terminated', ids: ['old'] }) })).toMatchObject({
      do: 'writeIntent',
      outcome: 'unsent',
    });
  });

  it('passes over every ended record that it has met, not over the last one only', () => {
    const step = decide({
      intent: intended('unknown', { skip: ['first'] }),
      search: lookedFor({ kind: 'terminated', ids: ['second'] }, 90_000),
    });
    expect(step).toMatchObject({ do: 'writeIntent', skip: ['first', 'second'] });
  });

  it('does not note ended records for ever: more than the intent can hold are passed over', () => {
    const skip = Array.from({ length: MAX_SKIP }, (_, n) => `old-${n}`);
    const step = decide({
      intent: intended('unknown', { skip }),
      search: lookedFor({ kind: 'terminated', ids: ['one more'] }, 90_000),
    });
    expect(step).toMatchObject({ do: 'writeIntent', try: 2 });
  });

  it('claims the one that carries the marker, and stops at several', () => {
    expect(decide({ search: lookedFor({ kind: 'one', id: 'r1' }) })).toEqual({ do: 'claim', id: 'r1' });
    const several = { search: lookedFor({ kind: 'several', ids: ['b', 'a'] }), intent: intended('unknown') };
    expect(reason(decide(several))).toBe('Ambiguous');
    expect(decide({ ...several, adopt: 'b' })).toEqual({ do: 'claim', id: 'b' });
    // Of those that carry the marker only: what else is named is looked at as any other's record is.
    expect(decide({ ...several, adopt: 'of-somebody-else' }).do).not.toBe('claim');
    expect(reason(decide({ ...several, adopt: 'of-somebody-else' }))).toBe('Ambiguous');
  });

  it('takes an intent back that was refused, and keeps the refusal', () => {
    expect(decide({ intent: intended('refused') })).toEqual({
      do: 'clearIntent',
      finalizerToo: true,
    });
    // Earlier records are still to go with the resource.
    const ended = {
      id: 'r0',
      endpoint: 'e',
      owner: 'o',
      why: 'Ended',
      since: '2026-01-01T00:00:00Z',
    } as const;
    expect(decide({ intent: intended('refused'), former: [ended] })).toEqual({ do: 'clearIntent' });
    expect(reason(decide({ refusal: () => verdict('Refused', 'no') }))).toBe('Refused');
  });

  it('keeps hold of what a create makes that was sent before nothing was to be created any more', () => {
    const one = lookedFor({ kind: 'one', id: 'r1' });
    for (const held of [{ observeOnly: true }, { paused: true }]) {
      const unknown = { ...held, intent: intended('unknown') };
      expect(decide(unknown)).toEqual({ do: 'look', at: 'search' });
      expect(decide({ ...unknown, search: one })).toEqual({ do: 'claim', id: 'r1' });
      expect(reason(decide({ ...unknown, search: lookedFor({ kind: 'none' }, 89_999) }))).toBe('Creating');
      expect(decide({ ...held, intent: intended('unknown'), created: 'r1' })).toEqual({
        do: 'claim',
        id: 'r1',
      });
    }
    const over = { intent: intended('unknown'), search: lookedFor({ kind: 'none' }, 90_000) };
    expect(reason(decide({ ...over, paused: true }))).toBe('Paused');
    expect(decide({ ...over, observeOnly: true })).toEqual({ do: 'clearIntent', finalizerToo: true });
    expect(decide({ observeOnly: true, intent: intended('unsent') })).toMatchObject({ do: 'clearIntent' });
  });

  it('concludes nothing here of what was sent to another service', () => {
    const intent = { ...intended('unknown'), sentTo: 'https://other.test' } as Seen['intent'];
    const search = lookedFor({ kind: 'none' }, 90_000);
    for (const more of [{}, { paused: true }, { observeOnly: true }]) {
      const step = decide({ intent, search, ...more });
      expect(reason(step)).toBe('NeedsUser');
      expect(step).toHaveProperty('verdict.message', expect.stringContaining('https://other.test'));
    }
    expect(reason(decide({ deleting: true, intent, search }))).toBe('Deleting');
    expect(decide({ deleting: true, orphan: true, intent })).toMatchObject({ do: 'release' });
    expect(
      decide({ intent: { ...intent, outcome: 'unsent' } as Seen['intent'], intentFits: () => false }),
    ).toMatchObject({ do: 'writeIntent' });
  });

  it('looks for the end of an operation under way though it is paused or waits for a reference', () => {
    const waiting = { kind: 'waiting', verdict: verdict('WaitingForReference', 'a Secret') } as const;
    const mine = { claim: MINE, underway: true };
    expect(decide({ ...mine, paused: true })).toEqual({ do: 'look', at: 'existence' });
    for (const more of [{ paused: true }, { observeOnly: true }, { desired: waiting }]) {
      const record = { id: 'r1' };
      expect(decide({ ...mine, existence: found, ...more })).toMatchObject({ do: 'follow', record });
      expect(decide({ ...mine, existence: found, ...more, underway: false }).do).toBe('report');
    }
  });

  it('creates nothing while paused, unconfirmed, in conflict, or without its connection', () => {
    const ready = { intent: intended('unsent') };
    expect(reason(decide({ ...ready, paused: true }))).toBe('Paused');
    expect(reason(decide({ ...ready, unconfirmed: 'copied' }))).toBe('Conflict');
    expect(reason(decide({ ...ready, claim: FOREIGN }))).toBe('Conflict');
    const connection = { kind: 'waiting', message: 'x', usable: false, credentialsMissing: false } as const;
    expect(reason(decide({ ...ready, connection }))).toBe('WaitingForConnection');
  });
});

const adoptWith = (value: Adoptee<Rec>): Step =>
  decide({ adopt: 'r1', adoptee: { kind: 'seen', value, startedAt: 0 } });

describe('adopting', () => {
  const free: NonNullable<Seen['adoptee']> = {
    kind: 'seen',
    value: { kind: 'free', isEnded: false, record: { id: 'r7' } },
    startedAt: 0,
  };

  it('claims what is free, and waits for what is not to be seen instead of creating', () => {
    expect(decide({ adopt: 'r7' })).toEqual({ do: 'look', at: 'adoptee' });
    expect(decide({ adopt: 'r7', adoptee: free })).toEqual({ do: 'claim', id: 'r7' });
    for (const [value, said] of [
      [{ kind: 'notThere', recheckAfterMs: 1_000 }, 'WaitingForReference'],
      [
        { kind: 'elsewhere', list: 'a list', advice: 'take another', recheckAfterMs: 1_000 },
        'WaitingForReference',
      ],
      [{ kind: 'claimed', by: 'Box "other"' }, 'Conflict'],
      [{ kind: 'misfit', why: 'a policy box' }, 'Conflict'],
    ] as const) {
      expect(reason(decide({ adopt: 'r7', adoptee: { kind: 'seen', value, startedAt: 0 } }))).toBe(said);
    }
  });

  it('is over for what was adopted before, and gives up what has ended where another would be made', () => {
    const former = { id: 'r7', endpoint: 'e', owner: 'o', since: '2026-01-01T00:00:00Z' };
    for (const why of ['Gone', 'Ended'] as const) {
      expect(decide({ adopt: 'r7', former: [{ ...former, why }] })).toEqual({ do: 'look', at: 'search' });
    }
    expect(decide({ adopt: 'r7', former: [{ ...former, why: 'Surplus' }] })).toEqual({
      do: 'look',
      at: 'adoptee',
    });
    const ended = { ...free, value: { kind: 'free', isEnded: true, record: { id: 'r7' } } } as const;
    expect(reason(decide({ adopt: 'r7', adoptee: ended }))).toBe('Conflict');
    expect(decide({ adopt: 'r7', adoptee: ended, onMissing: 'Hold' })).toEqual({ do: 'claim', id: 'r7' });
  });

  it('takes an intent back first, once nothing can come of it', () => {
    const unknown = { adopt: 'r7', adoptee: free, intent: intended('unknown') };
    expect(decide({ ...unknown, intent: intended('unsent') })).toEqual({ do: 'clearIntent' });
    expect(reason(decide({ ...unknown, search: lookedFor({ kind: 'none' }, 1_000) }))).toBe('Creating');
    expect(decide({ ...unknown, search: lookedFor({ kind: 'none' }, 90_000) })).toEqual({
      do: 'clearIntent',
    });
    const taken = { kind: 'nameTaken', id: 'r7' } as const;
    expect(reason(decide({ ...unknown, search: lookedFor(taken, 1_000) }))).toBe('NameTaken');
    expect(decide({ ...unknown, search: lookedFor(taken, 90_000) })).toEqual({ do: 'clearIntent' });
  });
});

describe('adopting', () => {
  it('names the annotation that holds no id', () => {
    const step = adoptWith({ kind: 'noId' });
    expect(step).toMatchObject({ do: 'report', verdict: { reason: 'NeedsUser' } });
    expect(step).toHaveProperty('verdict.message', expect.stringContaining('boxwright.dev/adopt'));
  });

  it('claims nothing that is of something else, or cannot be compared yet', () => {
    expect(reason(adoptWith({ kind: 'misfit', why: 'it was deployed from box b2' }))).toBe('Conflict');
    expect(reason(adoptWith({ kind: 'uncompared', why: 'Box "web" has no record' }))).toBe(
      'WaitingForReference',
    );
    expect(adoptWith({ kind: 'free', isEnded: false, record: { id: 'r1' } })).toEqual({
      do: 'claim',
      id: 'r1',
    });
  });
});

describe('a record that is ours', () => {
  it('is made to match', () => {
    expect(decide({ claim: MINE, existence: found })).toMatchObject({ do: 'converge', record: { id: 'r1' } });
  });

  it('that is gone is not made again once it has come to its end, nor while that is not known', () => {
    const gone = {
      claim: MINE,
      statusId: true,
      existence: { kind: 'seen', value: absent(), startedAt: 0 },
    } as const;
    const { desired: _desired, ...unread } = seen(gone);
    expect(decideRecord(unread)).toEqual({ do: 'look', at: 'desired' });
    expect(decide(gone)).toMatchObject({ do: 'forgetId' });
    expect(decide({ ...gone, isOver: () => true })).toMatchObject({
      do: 'report',
      gone: true,
      verdict: { reason: 'RecordMissing' },
    });
    const waiting = { kind: 'waiting', verdict: verdict('WaitingForReference', 'no box') } as const;
    expect(decide({ ...gone, desired: waiting })).toMatchObject({ do: 'report', gone: true });
  });

  it('gets a finalizer again that was wiped, before anything else and without its connection', () => {
    const connection = { kind: 'waiting', message: 'x', usable: false, credentialsMissing: false } as const;
    expect(decide({ claim: MINE, hasFinalizer: false, connection })).toEqual({ do: 'claim', id: 'r1' });
    expect(decide({ claim: { ...MINE, restore: true }, connection })).toEqual({ do: 'claim', id: 'r1' });
    expect(decide({ claim: MINE, hasFinalizer: false, observeOnly: true, existence: found })).toMatchObject({
      do: 'report',
      verdict: { reason: 'Observed' },
    });
  });

  it('is made again, or not, only once it is proved gone', () => {
    const unproved: NonNullable<Seen['existence']> = {
      kind: 'seen',
      value: { kind: 'unproved', recheckAfterMs: 1, looks: 2, allGone: false, counts: true },
      startedAt: 0,
    };
    const doubt: NonNullable<Seen['existence']> = {
      kind: 'seen',
      value: { kind: 'unproved', recheckAfterMs: 1, looks: 1, allGone: false, counts: true },
      startedAt: 0,
    };
    expect(decide({ claim: MINE, existence: doubt })).toEqual({ do: 'await', recheckAfterMs: 1 });
    const gone: NonNullable<Seen['existence']> = { kind: 'seen', value: absent(), startedAt: 0 };
    expect(reason(decide({ claim: MINE, existence: unproved }))).toBe('Unknown');
    expect(decide({ claim: MINE, existence: gone, statusId: true })).toEqual({ do: 'forgetId', why: 'Gone' });
    expect(decide({ claim: MINE, existence: gone })).toEqual({ do: 'unclaim' });
    expect(reason(decide({ claim: MINE, existence: gone, onMissing: 'Hold' }))).toBe('RecordMissing');
    const unshown = { claim: MINE, existence: gone, created: MINE.id, onMissing: 'Hold' } as const;
    expect(decide(unshown)).toEqual({ do: 'unclaim' });
    expect(reason(decide({ ...unshown, paused: true }))).toBe('Paused');
    expect(reason(decide({ ...unshown, created: 'another' }))).toBe('RecordMissing');
    expect(reason(decide({ claim: MINE, existence: gone, observeOnly: true }))).toBe('RecordMissing');
  });

  it('is not touched when another resource comes first', () => {
    expect(reason(decide({ claim: MINE, rival: rival() }))).toBe('Conflict');
    expect(reason(decide({ claim: MINE, rival: rival(), existence: found }))).toBe('Conflict');
  });

  it('is looked at where only its marker can tell whose it is', () => {
    expect(decide({ claim: MINE, rival: TIE })).toEqual({ do: 'look', at: 'existence' });
    expect(decide({ claim: MINE, rival: TIE, existence: found })).toMatchObject({ do: 'converge' });
    const unseen: Seen['existence'] = { kind: 'failed', verdict: verdict('Unknown', 'x') };
    expect(reason(decide({ claim: MINE, rival: TIE, existence: unseen }))).toBe('Conflict');
  });
});

const deleting = { deleting: true };
const held = (more: Partial<Seen>): string => reason(decide({ ...deleting, claim: MINE, ...more }));

describe('a claim that says nothing by itself', () => {
  const restored: NonNullable<Seen['restored']> = {
    kind: 'seen',
    value: { kind: 'free', isEnded: false, record: { id: 'r1' } },
    startedAt: 0,
  };
  const none = lookedFor({ kind: 'none' });

  it('counts where the record carries the marker; else nothing is sent, and nothing created', () => {
    expect(decide({ claim: VOID })).toEqual({ do: 'look', at: 'search' });
    expect(decide({ claim: VOID, search: lookedFor({ kind: 'one', id: 'r1' }) })).toEqual({
      do: 'claim',
      id: 'r1',
    });
    for (const value of [{ kind: 'none' }, { kind: 'terminated', ids: ['r1'] }] satisfies SearchOutcome[]) {
      expect(reason(decide({ claim: VOID, search: lookedFor(value) }))).toBe('Conflict');
    }
    const connection = { kind: 'waiting', message: 'x', usable: false, credentialsMissing: true } as const;
    expect(reason(decide({ claim: VOID, connection }))).toBe('Conflict');
  });

  it('that may be of before claims were sealed is guarded, so that a deletion comes by here', () => {
    const connection = { kind: 'waiting', message: 'x', usable: false, credentialsMissing: true } as const;
    const bare = { claim: VOID, hasFinalizer: false };
    expect(decide(bare)).toEqual({ do: 'guard' });
    expect(decide({ ...bare, connection })).toEqual({ do: 'guard' });
    expect(decide({ ...bare, observeOnly: true }).do).not.toBe('guard');
    expect(decide({ ...bare, claim: { kind: 'void', message: 'copied' } }).do).not.toBe('guard');
  });

  it('is overwritten by an adoption', () => {
    expect(decide({ claim: VOID, adopt: 'r2' })).toEqual({ do: 'look', at: 'adoptee' });
  });

  it('counts with --restore where the record fits, as does one whose key is lost', () => {
    expect(decide({ claim: VOID, restore: true, search: none })).toEqual({ do: 'look', at: 'restored' });
    expect(decide({ claim: VOID, restore: true, search: none, restored })).toEqual({ do: 'claim', id: 'r1' });
    const unreadable = { kind: 'conflict', message: 'sealed', id: 'r1' } as const;
    expect(reason(decide({ claim: unreadable, restored }))).toBe('Conflict');
    expect(decide({ claim: unreadable, restore: true, restored })).toEqual({ do: 'claim', id: 'r1' });
    expect(reason(decide({ claim: FOREIGN, restore: true, restored }))).toBe('Conflict');
  });
});

describe('an installation whose id was given by hand', () => {
  const marked = lookedFor({ kind: 'one', id: 'r1' });

  it('claims what carries its markers only with --restore, for another cluster may have made it', () => {
    expect(reason(decide({ isBorrowed: true, search: marked }))).toBe('Conflict');
    expect(reason(decide({ ...deleting, isBorrowed: true, search: marked }))).toBe('Conflict');
    expect(decide({ isBorrowed: true, restore: true, search: marked })).toEqual({ do: 'claim', id: 'r1' });
    const own = { isBorrowed: true, intent: intended('unknown'), search: marked };
    expect(decide(own)).toEqual({ do: 'claim', id: 'r1' });
  });
});

describe('deleting', () => {
  it('removes the record, and lets go once that is proved gone', () => {
    expect(decide({ ...deleting, claim: MINE, existence: found })).toMatchObject({ do: 'remove' });
    const gone: NonNullable<Seen['existence']> = { kind: 'seen', value: absent(), startedAt: 0 };
    expect(decide({ ...deleting, claim: MINE, existence: gone })).toMatchObject({ do: 'release' });
  });

  it('takes the one of several that the user names, as the words for several say', () => {
    const several = { ...deleting, search: lookedFor({ kind: 'several', ids: ['a', 'b'] }) };
    expect(reason(decide(several))).toBe('Ambiguous');
    expect(decide({ ...several, adopt: 'b' })).toEqual({ do: 'claim', id: 'b' });
    expect(reason(decide({ ...several, adopt: 'of-somebody-else' }))).toBe('Ambiguous');
  });

  it('asks by a DELETE what reads do not tell, and says so', () => {
    const value = {
      kind: 'unproved',
      recheckAfterMs: 1,
      looks: 1,
      allGone: false,
      counts: true,
      askByDelete: true,
    } as const;
    const step = decide({ ...deleting, claim: MINE, existence: { kind: 'seen', value, startedAt: 0 } });
    expect(step).toMatchObject({ do: 'askByDelete', id: 'r1', verdict: { reason: 'Deleting' } });
  });

  it('lets go with Orphan, whatever else stands in the way', () => {
    const connection = { kind: 'waiting', message: 'x', usable: false, credentialsMissing: true } as const;
    const users = ['Instance/web'];
    const step = decide({ ...deleting, claim: MINE, orphan: true, paused: true, connection, users });
    expect(step).toMatchObject({ do: 'release' });
  });

  it('lets no finalizer go while the installation is not confirmed', () => {
    expect(reason(decide({ ...deleting, claim: MINE, orphan: true, unconfirmed: 'copied' }))).toBe(
      'Conflict',
    );
  });

  it('is not let go because of what another installation, or another resource, says', () => {
    expect(held({ claim: FOREIGN })).toBe('Conflict');
    expect(held({ rival: rival(), existence: found })).toBe('Conflict');
    const said = decide({ ...deleting, claim: FOREIGN });
    expect(said.do === 'report' && said.verdict.message).toContain('kubectl get boxes -o name | xargs');
  });

  it('lets go where the claim says nothing, and no record carries the marker', () => {
    const copied = { kind: 'void', message: 'copied' } as const;
    expect(decide({ ...deleting, claim: copied })).toEqual({ do: 'look', at: 'search' });
    const none = decide({ ...deleting, claim: copied, search: lookedFor({ kind: 'none' }) });
    expect(none).toMatchObject({ do: 'release' });
    const one = decide({ ...deleting, claim: copied, search: lookedFor({ kind: 'one', id: 'r2' }) });
    expect(one).toEqual({ do: 'claim', id: 'r2' });
  });

  it('waits where a claim that was never sealed names a record that fits, or whose absence is not proved', () => {
    for (const value of [
      { kind: 'none' },
      { kind: 'nameTaken', id: 'r1' },
      { kind: 'terminated', ids: ['r0'] },
    ] satisfies SearchOutcome[]) {
      const unsealed = { ...deleting, claim: VOID, search: lookedFor(value) };
      expect(decide(unsealed)).toEqual({ do: 'look', at: 'restored' });
      const free = looked({ kind: 'free', isEnded: false, record: { id: 'r1' } });
      expect(reason(decide({ ...unsealed, restored: free }))).toBe('Conflict');
      expect(decide({ ...unsealed, restored: free, restore: true })).toEqual({ do: 'claim', id: 'r1' });
      expect(decide({ ...unsealed, restored: free, orphan: true })).toMatchObject({ do: 'release' });
      const uncompared = looked({ kind: 'uncompared', why: 'a Secret is missing' });
      expect(reason(decide({ ...unsealed, restored: uncompared }))).toBe('Conflict');
      const unread = { kind: 'failed', verdict: verdict('Unknown', 'no answer') } as const;
      expect(reason(decide({ ...unsealed, restored: unread }))).toBe('Deleting');

      const unseen = { ...unsealed, restored: looked({ kind: 'notThere', recheckAfterMs: 1 }) };
      expect(decide(unseen)).toEqual({ do: 'look', at: 'existence' });
      const open = { kind: 'unproved', recheckAfterMs: 1, allGone: false, askByDelete: true } as const;
      const notYet: NonNullable<Seen['existence']> = { kind: 'seen', value: open as never, startedAt: 0 };
      expect(reason(decide({ ...unseen, existence: notYet }))).toBe('Deleting');
      expect(reason(decide({ ...unseen, existence: found }))).toBe('Deleting');
      const gone: NonNullable<Seen['existence']> = { kind: 'seen', value: absent(), startedAt: 0 };
      expect(decide({ ...unseen, existence: gone })).toMatchObject({ do: 'release' });
    }
  });

  it('lets go where not even --restore would let the claim count', () => {
    for (const value of [
      { kind: 'misfit', why: 'it is called "x"' },
      { kind: 'claimed', by: 'Another Box, of another namespace,' },
      { kind: 'elsewhere', list: 'x', advice: 'y', recheckAfterMs: 1 },
      { kind: 'noId' },
    ] satisfies Adoptee<Rec>[]) {
      const step = decide({
        ...deleting,
        claim: VOID,
        search: lookedFor({ kind: 'none' }),
        restored: looked(value),
      });
      expect(step).toMatchObject({ do: 'release' });
    }
  });

  it("never removes another's record, and lets go where that one's right is beyond doubt", () => {
    const others = { ...deleting, claim: MINE, rival: rival({ isBeyondDoubt: true }) };
    expect(decide(others)).toEqual({ do: 'look', at: 'existence' });
    expect(decide({ ...others, existence: found })).toMatchObject({ do: 'release' });
    expect(reason(decide({ ...others, existence: found, isMarked: () => true }))).toBe('Conflict');
    expect(reason(decide({ ...others, existence: found, isMarked: () => undefined }))).toBe('Conflict');
    expect(reason(decide({ ...others, existence: found, intent: intended('unknown') }))).toBe('Conflict');
    const gone: NonNullable<Seen['existence']> = { kind: 'seen', value: absent(), startedAt: 0 };
    expect(decide({ ...others, rival: rival(), existence: gone })).toMatchObject({ do: 'release' });
  });

  it('waits for the outcome of a create before it lets go', () => {
    const unknown = { ...deleting, intent: intended('unknown') };
    expect(reason(decide({ ...unknown, search: lookedFor({ kind: 'none' }, 1_000) }))).toBe('Deleting');
    expect(decide({ ...unknown, search: lookedFor({ kind: 'none' }, 90_000) })).toMatchObject({
      do: 'release',
    });
    expect(decide({ ...deleting, search: lookedFor({ kind: 'none' }) })).toMatchObject({ do: 'release' });
    expect(decide({ ...unknown, search: lookedFor({ kind: 'one', id: 'r1' }) })).toEqual({
      do: 'claim',
      id: 'r1',
    });
  });

  it('says what holds it', () => {
    expect(held({ users: ['Instance/web'] })).toBe('InUse');
    expect(held({ paused: true })).toBe('Deleting');
    const without = { kind: 'waiting', message: 'x', usable: false, credentialsMissing: true } as const;
    expect(held({ connection: without })).toBe('CredentialsMissing');
    expect(held({ connection: { ...without, credentialsMissing: false } })).toBe('WaitingForConnection');
    // The last good credential is still in memory.
    expect(held({ connection: { ...without, usable: true }, existence: found })).toBe('remove');
  });

  it('does nothing once its finalizer is gone', () => {
    expect(decide({ ...deleting, hasFinalizer: false, claim: MINE })).toEqual({ do: 'nothing' });
  });
});

it('is a read that must be told apart before its record can be used', () => {
  const existence = { kind: 'unproved', recheckAfterMs: 1 } as Existence<Rec>;
  // @ts-expect-error only a found record is there to be used
  expect(existence.record).toBeUndefined();
});

describe('earlier records', () => {
  const gone = {
    id: 'r0',
    endpoint: 'https://a',
    owner: 'o',
    why: 'Gone',
    since: '2026-01-01T00:00:00Z',
  } as const;
  const sight = (more: Partial<NonNullable<Seen['formerSeen']>> = {}): NonNullable<Seen['formerSeen']> => ({
    back: [],
    again: [],
    due: [],
    gone: [],
    open: undefined,
    recheckAfterMs: Infinity,
    ...more,
  });
  const r0 = { former: gone, record: { id: 'r0' } };
  const holding: Partial<Seen> = { claim: MINE, statusId: true, existence: found, former: [gone] };

  it('are looked at before their resource converges or goes', () => {
    expect(decide(holding)).toEqual({ do: 'look', at: 'former' });
    expect(decide({ ...holding, formerSeen: sight() })).toMatchObject({ do: 'converge', former: sight() });
    const going = { deleting: true, former: [gone], search: lookedFor({ kind: 'none' }) };
    expect(decide(going)).toEqual({ do: 'look', at: 'former' });
    expect(decide({ ...going, formerSeen: sight({ due: [r0] }) }).do).toBe('removeFormer');
    expect(reason(decide({ ...going, formerSeen: sight({ open: verdict('Deleting', 'not known') }) }))).toBe(
      'Deleting',
    );
    expect(decide({ ...going, formerSeen: sight({ gone: ['r0'] }) }).do).toBe('release');
    expect(decide({ ...going, orphan: true }).do).toBe('release');
  });

  it('are taken back where one of them came back before another was Ready, or where a person says so', () => {
    expect(decide({ ...holding, formerSeen: sight({ back: [r0] }) })).toMatchObject({
      do: 'takeBack',
      isChosen: false,
    });
    expect(decide({ ...holding, formerSeen: sight({ back: [r0, r0] }) }).do).toBe('converge');
    // Only ids out of status are ever given up.
    expect(decide({ ...holding, statusId: false, formerSeen: sight({ back: [r0] }) })).toEqual({
      do: 'noteId',
      id: 'r1',
    });
    const seenAgain = { former: { ...gone, seenAt: gone.since, seenWith: 'r0' }, record: { id: 'r0' } };
    const chosen = { former: { ...gone, seenAt: gone.since }, record: { id: 'r0' } };
    expect(decide({ ...holding, adopt: 'r0', formerSeen: sight({ again: [seenAgain] }) }).do).toBe(
      'converge',
    );
    expect(decide({ ...holding, adopt: 'r0', formerSeen: sight({ again: [chosen] }) })).toMatchObject({
      do: 'takeBack',
      isChosen: true,
    });
  });

  it('that a search finds are claimed, unless a create may have made another', () => {
    const search = lookedFor({ kind: 'one', id: 'r0' });
    expect(decide({ former: [gone], search })).toEqual({ do: 'claim', id: 'r0' });
    expect(reason(decide({ former: [gone], search, intent: intended('unknown') }))).toBe('Creating');
    const both = lookedFor({ kind: 'several', ids: ['r0', 'r1'] });
    expect(decide({ former: [gone], search: both, intent: intended('unknown') })).toEqual({
      do: 'claim',
      id: 'r1',
    });
  });

  it('of a service that keeps no markers are not told from what was just made: nothing is sent again', () => {
    const intent = intended('unknown');
    const search = lookedFor({ kind: 'none', unmarked: ['r7'] }, 90_000);
    expect(decide({ search, intent })).toMatchObject({ verdict: { reason: 'Ambiguous' } });
    expect(reason(decide({ search: lookedFor({ kind: 'none', unmarked: ['r7'] }), intent }))).toBe(
      'Creating',
    );
    expect(decide({ search, intent, adopt: 'r7' })).toEqual({ do: 'clearIntent' });
    expect(decide({ search: lookedFor({ kind: 'none' }, 90_000), intent }).do).toBe('writeIntent');
  });

  it('make room before a sixth is forgotten', () => {
    const former = ['1', '2', '3', '4', '5'].map((id) => ({ ...gone, id }));
    const existence = { kind: 'seen', value: absent(), startedAt: 0 } as const;
    expect(decide({ claim: MINE, statusId: true, existence, former })).toEqual({ do: 'look', at: 'former' });
    expect(decide({ claim: MINE, statusId: true, existence, former, formerSeen: sight() }).do).toBe(
      'forgetId',
    );
  });
});
