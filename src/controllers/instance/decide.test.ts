import { describe, expect, it } from 'vitest';
import type { Instance } from '../../api/instance.ts';
import type { LeaseRecord } from '../../service/index.ts';
import type { Held } from '../record/attempts.ts';
import type { Difference } from '../record/differences.ts';
import type { Verdict } from '../record/status/verdict.ts';
import { GRACE_MS } from './aspects/lease.ts';
import { choose, type AspectStates, type InstanceAspect, type InstanceStep } from './aspects/state.ts';
import { decideInstance, type Decision, type InstanceObservation } from './decide.ts';
import type { Scheduled } from './lease/scheduled.ts';
import type { WantedLease } from './lease/terms.ts';
import type { PutPlan } from './put/plan.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const HOUR = 3_600_000;

const PLAN: PutPlan = {
  tags: [],
  variables: [],
  carried: [],
  differences: [],
  tagsDiffer: false,
  variablesDiffer: false,
  newTags: [],
  newVariables: [],
  wiped: { content: [], lease: [] },
};

interface Seen extends Partial<Omit<InstanceObservation, 'spec' | 'status' | 'plan' | 'lease'>> {
  pair?: string;
  spec?: Partial<Instance['spec']>;
  status?: Partial<Instance['status']>;
  plan?: Partial<PutPlan>;
  onRecord?: LeaseRecord;
  lease?: WantedLease | undefined;
}

/** An instance that is online and as declared, unless said otherwise. */
function decision({ pair = 'done+deploy', spec, status, plan, onRecord, ...more }: Seen = {}): Decision {
  const [state = '', event = ''] = pair.split('+');
  return decideInstance({
    spec: {
      applyChanges: 'Reconfigure',
      operationTimeout: '30m',
      failurePolicy: { onDeployFailed: 'Hold', onBoxChanged: 'Redeploy' },
      ...spec,
    } as Instance['spec'],
    status: { observedGeneration: 1, armed: 'armed', appliedTags: 'tags', ...status },
    record: {
      id: 'i',
      state,
      operation: { event },
      ...(onRecord === undefined ? {} : { lease: onRecord }),
    },
    now: NOW,
    lease: undefined,
    leaseHeld: false,
    scheduled: undefined,
    leaseMissing: undefined,
    contentWaits: undefined,
    leaseToTakeOff: false,
    armedHash: 'armed',
    nextLook: { afterMs: 5_000, isLearnt: false },
    plan: { ...PLAN, ...plan },
    missingFile: undefined,
    hash: 'h1',
    tagsHash: 'tags',
    contentHash: 'content',
    replacedBox: undefined,
    boxChanged: false,
    changedBelow: [],
    hashIsKnown: true,
    appliedHash: 'h1',
    variablesPut: false,
    putWhileDown: false,
    othersPut: false,
    isBegunNoted: false,
    hasSecrets: false,
    requests: {},
    handled: {},
    drift: 'Correct',
    onMissing: 'Hold',
    timeoutMs: 30 * 60_000,
    runningSince: undefined,
    poll: { processingMs: 5_000, settledMs: 600_000 },
    leaseNotKept: false,
    warnBeforeMs: undefined,
    ...more,
  });
}

type Told =
  | InstanceStep
  | { do: 'renounce' }
  | { do: 'report'; verdict: Verdict; released?: number; drift: readonly Difference[] };

/** What a pass comes to where the ledger of attempts holds back what is named. */
function decide(seen: Seen = {}, refused: readonly InstanceAspect[] = []): Told {
  const decided = decision(seen);
  if (decided.kind === 'renounce') return { do: 'renounce' };
  if (decided.kind === 'whole') return { ...decided, do: 'report', drift: [] };
  const no = { reason: 'Refused', message: 'no' } as const;
  const choice = choose(decided.states, {
    held: (aspect) =>
      (refused as readonly string[]).includes(aspect)
        ? { why: 'refused', verdict: no, retryAfterMs: 1 }
        : undefined,
  });
  if (choice.do === 'step') return choice.step;
  const released = decided.released === undefined ? {} : { released: decided.released };
  const verdict = choice.verdict ?? decided.settled;
  return { do: 'report', verdict, ...released, drift: driftOf(decided.states) };
}

function driftOf(states: AspectStates): Difference[] {
  return Object.values(states).flatMap((state) => (state.kind === 'inForce' ? (state.drift ?? []) : []));
}

/** One word for a step. */
function word(step: Told): string {
  if (step.do === 'report') return step.verdict.reason;
  if (step.do === 'begin') return step.operation;
  return step.do === 'put' ? `put ${step.why}` : step.do;
}
const said = (seen?: Seen, refused?: readonly InstanceAspect[]): string => word(decide(seen, refused));

function lease(expire: number, operation: WantedLease['operation'] = 'Shutdown', isNew = false): WantedLease {
  return {
    source: {
      kind: 'Instance',
      name: 'web',
      uid: 'u',
      deletionPolicy: 'Delete',
      terms: { operation, expireAt: new Date(expire).toISOString() },
      renew: undefined,
      paused: false,
      warnBefore: undefined,
    },
    terms: 't',
    operation,
    expire,
    isNew,
    scheduled: undefined,
  };
}
const onRecord = (expire: number, operation = 'shutdown', released = false): LeaseRecord => ({
  operation,
  expire: new Date(expire).toISOString().replace('T', ' ').replace('Z', '000'),
  released,
});
const over = (ago: number, operation: 'Shutdown' | 'Terminate'): Seen => ({
  lease: lease(NOW - ago, operation),
  onRecord: onRecord(NOW - ago, operation.toLowerCase()),
});
const SOURCE = {
  kind: 'InstanceLease' as const,
  name: 'nights',
  uid: 'u',
  deletionPolicy: 'Delete' as const,
  terms: 't',
};

describe('an instance as declared', () => {
  it('is settled online, and shut down', () => {
    expect(said()).toBe('Settled');
    expect(said({ pair: 'done+shutdown_service' })).toBe('ShutDown');
  });

  it('is left alone while an operation runs, and said to be stuck past its time-out', () => {
    expect(said({ pair: 'processing+reinstall', requests: { reinstall: '1' } })).toBe('Reinstalling');
    expect(said({ pair: 'processing+deploy', runningSince: NOW - 31 * 60_000 })).toBe('OperationFailed');
  });

  it('is never acted upon in a state or with an event that is not known here', () => {
    const wanted = {
      requests: { reinstall: '1' },
      spec: { powerState: 'Stopped' as const },
      appliedHash: 'h0',
    };
    for (const pair of ['done+migrate', 'paused+deploy', 'processing+snapshot', 'done+']) {
      expect(said({ pair, ...wanted })).toBe('UnknownState');
    }
  });
});

describe('changed variables', () => {
  const changed: Seen = { appliedHash: 'h0', plan: { variablesDiffer: true } };
  const put: Seen = { appliedHash: 'h0', variablesPut: true };

  it('are noted when new, put, and then applied by the operation declared for it', () => {
    expect(said({ ...changed, plan: { ...changed.plan, newVariables: ['B'] } })).toBe('noteManaged');
    expect(said(changed)).toBe('put content');
    expect(said(put)).toBe('reconfigure');
    expect(said({ ...put, spec: { applyChanges: 'Reinstall' } })).toBe('reinstall');
    expect(said({ ...put, spec: { applyChanges: 'None' } })).toBe('noteApplied');
  });

  it('are put when only a secret has changed, which the record does not show', () => {
    expect(said({ appliedHash: 'h0' })).toBe('put content');
  });

  it('are put once and applied by nothing when the key of the hash is not known', () => {
    expect(said({ ...put, hashIsKnown: false })).toBe('noteApplied');
  });

  it('wait for the power-on while shut down, which applies them, by whomever', () => {
    const down = { ...put, pair: 'done+shutdown' };
    expect(said({ ...changed, pair: 'done+shutdown' })).toBe('put content');
    expect(said(down)).toBe('ShutDown');
    expect(decide({ ...down, spec: { powerState: 'Running' } })).toMatchObject({
      operation: 'poweron',
      hash: 'h1',
    });
    const reinstall = decide({ ...down, spec: { powerState: 'Running', applyChanges: 'Reinstall' } });
    expect(reinstall).toEqual({ do: 'begin', operation: 'poweron' });
    expect(said({ ...put, pair: 'done+poweron', putWhileDown: true })).toBe('noteApplied');
    expect(
      said({ ...put, pair: 'done+poweron', putWhileDown: true, spec: { applyChanges: 'Reinstall' } }),
    ).toBe('reinstall');
  });

  it('mend a deploy that failed, and are tried by reinstall where reconfigure is not taken', () => {
    expect(said({ ...put, pair: 'unavailable+deploy' })).toBe('deploy');
    expect(said({ ...put, pair: 'unavailable+reinstall' })).toBe('reinstall');
  });

  it('are drift when nobody here changed them: corrected, reported, or left', () => {
    const differences = [{ field: 'variables.PORT.value', want: '80', have: '81' }];
    const drift = { plan: { variablesDiffer: true, differences } };
    expect(said(drift)).toBe('put content');
    expect(decide({ ...drift, drift: 'Report' })).toMatchObject({ do: 'report', drift: differences });
    expect(decide({ ...drift, drift: 'Ignore' })).toMatchObject({ verdict: { reason: 'Settled' } });
  });
});

describe('a PUT that would wipe a secret that only the service knows', () => {
  const risk = { wiped: { content: ['THEIRS'], lease: ['THEIRS'] } };

  it('is not sent, whatever it is for', () => {
    expect(said({ plan: { ...risk, tagsDiffer: true } })).toBe('NotApplied');
    expect(said({ plan: risk, lease: lease(NOW + HOUR) })).toBe('NotApplied');
    expect(said({ plan: risk, lease: lease(NOW + HOUR, 'Shutdown', true) })).toBe('NotApplied');
    expect(said({ plan: risk, appliedHash: 'h0' })).toBe('NotApplied');
  });

  it('hinders nothing that is no PUT', () => {
    expect(said({ plan: risk })).toBe('Settled');
    expect(said({ plan: risk, requests: { reinstall: '1' } })).toBe('reinstall');
    expect(said({ plan: { ...risk, tagsDiffer: true }, drift: 'Ignore' })).toBe('Settled');
  });
});

describe('a request', () => {
  it('runs once, when the state allows it, and is refused in words when it does not', () => {
    const requests = { reinstall: '1' };
    expect(decide({ requests })).toMatchObject({
      operation: 'reinstall',
      token: { of: 'reinstall', value: '1' },
    });
    expect(said({ requests, handled: { reinstall: '1' } })).toBe('Settled');
    expect(said({ requests, pair: 'done+shutdown' })).toBe('refuseRequest');
    expect(said({ requests: { redeploy: '1' } })).toBe('refuseRequest');
    expect(said({ requests: { redeploy: '1' }, pair: 'unavailable+deploy' })).toBe('deploy');
  });
});

/** A schedule that says so until a minute from now. */
const now = (power: 'Running' | 'Stopped'): Scheduled => ({
  kind: 'now',
  lease: 'office',
  power,
  since: '2026-01-01T07:00:00Z',
  until: NOW + 60_000,
});

describe('power', () => {
  const left: Scheduled = { kind: 'left', power: 'Running', since: undefined };
  const unknownZone: Scheduled = { kind: 'unknownZone', message: 'no such zone' };

  it.each<[string, Scheduled, 'Running' | 'Stopped', string, string]>([
    ['done+deploy', now('Stopped'), 'Running', 'armed', 'shutdown'],
    ['done+shutdown', now('Running'), 'Stopped', 'armed', 'poweron'],
    // It counts before a lease that has ended as well.
    ['done+shutdown', now('Running'), 'Stopped', 'released:armed', 'poweron'],
    ['done+deploy', now('Running'), 'Stopped', 'armed', 'Settled'],
    ['done+shutdown', now('Stopped'), 'Running', 'armed', 'ShutDown'],
    ['unavailable+poweron', now('Running'), 'Running', 'armed', 'OperationFailed'],
    ['done+deploy', left, 'Stopped', 'armed', 'Settled'],
    ['done+shutdown', left, 'Running', 'armed', 'ShutDown'],
    ['done+deploy', unknownZone, 'Stopped', 'armed', 'NotSupported'],
  ])('%s with schedule %o, powerState %s, armed %s: %s', (pair, scheduled, powerState, armed, expected) => {
    expect(said({ pair, scheduled, spec: { powerState }, status: { armed } })).toBe(expected);
  });

  it('is switched by a schedule whatever driftPolicy says, and corrected in between where it says so', () => {
    const off: Seen = { pair: 'done+shutdown', scheduled: now('Running') };
    expect(said(off)).toBe('poweron');
    expect(decide({ ...off, drift: 'Report' })).toMatchObject({
      drift: [{ field: 'schedule', want: 'Running', have: 'Stopped' }],
    });
    expect(said({ ...off, drift: 'Report', armedHash: 'another switch' })).toBe('poweron');
    expect(said({ ...off, drift: 'Ignore', armedHash: 'another switch' })).toBe('poweron');
  });

  it('follows powerState, and is not managed without one', () => {
    expect(said({ spec: { powerState: 'Stopped' } })).toBe('shutdown');
    expect(said({ pair: 'done+shutdown', spec: { powerState: 'Running' } })).toBe('poweron');
    expect(said({ pair: 'done+shutdown' })).toBe('ShutDown');
  });

  it('that somebody else switched is drift, a powerState that was just declared is not', () => {
    const off: Seen = { pair: 'done+shutdown', spec: { powerState: 'Running' } };
    expect(said({ ...off, drift: 'Ignore' })).toBe('ShutDown');
    expect(decide({ ...off, drift: 'Report' })).toMatchObject({ drift: [{ field: 'powerState' }] });
    expect(said({ ...off, drift: 'Ignore', status: { armed: 'before' } })).toBe('poweron');
  });

  it('stays as a released lease left it until something re-arms it', () => {
    const released: Seen = {
      pair: 'done+shutdown',
      spec: { powerState: 'Running' },
      lease: lease(NOW - HOUR),
      status: { armed: 'released:armed', releasedExpire: new Date(NOW - HOUR).toISOString() },
    };
    expect(said(released)).toBe('LeaseReleased');
    expect(said({ ...released, armedHash: 'renewed' })).toBe('poweron');
    // Each end is carried out once and blocks nothing afterwards.
    expect(said({ ...released, armedHash: 'renewed', pair: 'done+poweron' })).toBe('Settled');
  });

  it('is not switched on at the end of a lease, though the service has not said so yet', () => {
    const step = decide({
      pair: 'done+shutdown',
      spec: { powerState: 'Running' },
      lease: lease(NOW),
      onRecord: onRecord(NOW),
    });
    expect(step).toMatchObject({ verdict: { reason: 'LeaseReleased' }, released: NOW });
  });
});

describe('a lease', () => {
  it('is noted before it is put, and not put when it is on the record', () => {
    expect(said({ lease: lease(NOW + HOUR, 'Shutdown', true) })).toBe('noteLease');
    expect(said({ lease: lease(NOW + HOUR) })).toBe('put lease');
    expect(said({ lease: lease(NOW + HOUR), onRecord: onRecord(NOW + HOUR + 30_000) })).toBe('Settled');
    expect(said({ lease: lease(NOW + HOUR), leaseNotKept: true })).toBe('Settled');
  });

  it('whose end is in the past is not put', () => {
    expect(said({ lease: lease(NOW - HOUR, 'Shutdown', true) })).toBe('Refused');
  });

  it('that the service did not carry out is carried out here, two minutes later', () => {
    expect(said(over(GRACE_MS - 1, 'Shutdown'))).toBe('ShuttingDown');
    expect(said(over(GRACE_MS, 'Shutdown'))).toBe('shutdown');
    expect(said(over(GRACE_MS, 'Terminate'))).toBe('terminate');
  });

  it('that nobody here declared is shown and not touched, its end included', () => {
    expect(said({ onRecord: onRecord(NOW + HOUR, 'terminate') })).toBe('Settled');
    expect(said({ onRecord: onRecord(NOW - GRACE_MS, 'terminate') })).toBe('Settled');
    expect(said({ onRecord: onRecord(NOW - GRACE_MS), spec: { powerState: 'Stopped' } })).toBe('shutdown');
    expect(said({ onRecord: onRecord(NOW - GRACE_MS), pair: 'done+shutdown' })).toBe('LeaseReleased');
  });

  it('is taken off when its source is gone, or left', () => {
    const gone: Seen = { status: { lease: { operation: 'Shutdown', released: false, source: SOURCE } } };
    const shown = { ...gone, onRecord: onRecord(NOW + HOUR) };
    expect(said({ ...shown, leaseToTakeOff: true })).toBe('put lease');
    expect(said({ ...gone, leaseToTakeOff: true })).toBe('dropLeaseSource');
    expect(said(shown)).toBe('dropLeaseSource');
  });

  it('stays, source and all, while that is paused with a change', () => {
    const status = { lease: { operation: 'Shutdown' as const, released: false, source: SOURCE } };
    expect(said({ status, leaseHeld: true, onRecord: onRecord(NOW + HOUR) })).toBe('Settled');
  });

  it('that leaseRef names and that is not there is told, and what stands stays', () => {
    const status = { lease: { operation: 'Shutdown' as const, released: false, source: SOURCE } };
    const missing: Seen = { status, leaseHeld: true, leaseMissing: 'InstanceLease "nights" does not exist' };
    expect(said({ ...missing, onRecord: onRecord(NOW + HOUR) })).toBe('WaitingForReference');
    expect(said({ ...missing, spec: { powerState: 'Stopped' } })).toBe('shutdown');
  });

  it('that terminated the instance is what was declared; a termination by hand is not', () => {
    const pair = 'done+terminate_service';
    const ended = {
      pair,
      lease: lease(NOW - HOUR, 'Terminate'),
      onRecord: onRecord(NOW - HOUR, 'terminate', true),
    };
    expect(said({ ...ended, onMissing: 'Recreate' })).toBe('LeaseReleased');
    expect(said({ pair })).toBe('RecordMissing');
    expect(said({ pair, onMissing: 'Recreate' })).toBe('renounce');
  });
});

/** Ledgers of attempts in which one thing waits. */
const contentSoon = (aspect: string): Held | undefined =>
  aspect === 'content'
    ? { why: 'passing', verdict: { reason: 'ServiceUnavailable', message: 'down' }, retryAfterMs: 1 }
    : undefined;
const variablesRefused = (_aspect: string, fingerprint: string): Held | undefined =>
  fingerprint === 'content' ? { why: 'refused', verdict: undefined, retryAfterMs: 1 } : undefined;

describe('aspects', () => {
  const changed: Seen = { appliedHash: 'h0', plan: { variablesDiffer: true } };
  const all: Seen = {
    ...changed,
    lease: lease(NOW + HOUR),
    requests: { reinstall: '1' },
    spec: { powerState: 'Stopped' },
  };

  it('do not wait for each other: what is refused in one holds no other back', () => {
    expect(said(all)).toBe('put lease');
    expect(said(all, ['lease'])).toBe('put content');
    expect(said(all, ['lease', 'content'])).toBe('reinstall');
    expect(said(all, ['lease', 'content', 'requests'])).toBe('shutdown');
    expect(decide(all, ['lease', 'content', 'requests', 'power'])).toMatchObject({
      verdict: { reason: 'Refused', message: 'Lease: no' },
    });
  });

  it('go on beside content that waits for a reference, and among them one request beside another', () => {
    const contentWaits: Verdict = { reason: 'WaitingForReference', message: 'Secret "a" does not exist' };
    expect(said({ contentWaits, plan: { variablesDiffer: true } })).toBe('WaitingForReference');
    expect(said({ contentWaits, spec: { powerState: 'Stopped' } })).toBe('shutdown');
    expect(said({ contentWaits, requests: { reinstall: '1' } })).toBe('reinstall');
    const states = decision({ requests: { reinstall: '1', reconfigure: '2' } });
    expect(states).toMatchObject({
      states: { requests: { steps: [{ fingerprint: 'reinstall:1' }, { fingerprint: 'reconfigure:2' }] } },
    });
  });

  it('give way to the end of a lease', () => {
    expect(said({ ...all, ...over(GRACE_MS, 'Terminate') })).toBe('terminate');
    expect(said({ ...all, ...over(GRACE_MS, 'Shutdown') })).toBe('shutdown');
  });

  it('go on beside a lease whose end is in the past', () => {
    const past = { ...all, lease: lease(NOW - HOUR, 'Shutdown', true) };
    expect(said({ ...past, appliedHash: 'h1', plan: {}, requests: {} })).toBe('shutdown');
    expect(said(past, ['content', 'requests', 'power'])).toBe('Refused');
  });

  it('name the one that is worst off', () => {
    const waits = { ...over(0, 'Shutdown'), ...changed };
    expect(decide(waits, ['content'])).toMatchObject({
      verdict: { reason: 'Refused', message: 'Content: no' },
    });
  });

  it('put tags by themselves where the variables are refused', () => {
    const both: Seen = { ...changed, plan: { variablesDiffer: true, tagsDiffer: true } };
    const decided = decision(both);
    if (decided.kind !== 'aspects') throw new Error('no aspects');
    expect(choose(decided.states, { held: variablesRefused })).toMatchObject({
      step: { do: 'put', why: 'tags' },
    });
  });

  it('let a power-on wait for content that is tried again soon, for a while', () => {
    const down: Seen = { ...changed, pair: 'done+shutdown', spec: { powerState: 'Running' } };
    const decided = decision(down);
    if (decided.kind !== 'aspects') throw new Error('no aspects');
    expect(choose(decided.states, { held: contentSoon }, () => true)).toMatchObject({ do: 'report' });
    expect(choose(decided.states, { held: contentSoon }, () => false)).toMatchObject({
      step: { operation: 'poweron' },
    });
    const step = decide(down, ['content']);
    expect(step).toEqual({ do: 'begin', operation: 'poweron' });
  });

  it('apply a tag that was just declared whatever driftPolicy says of others', () => {
    const differs = { plan: { tagsDiffer: true }, drift: 'Report' as const };
    expect(said(differs)).toBe('Settled');
    expect(said({ ...differs, status: { appliedTags: 'before' } })).toBe('put tags');
  });
});

describe('a deploy that has failed', () => {
  const failed: Seen = { pair: 'unavailable+deploy' };

  it('is tried again when its box has changed, unless the policy holds it', () => {
    expect(said(failed)).toBe('OperationFailed');
    expect(said({ ...failed, boxChanged: true })).toBe('deploy');
    const held = { onDeployFailed: 'Hold', onBoxChanged: 'Hold' } as const;
    expect(said({ ...failed, boxChanged: true, spec: { failurePolicy: held } })).toBe('OperationFailed');
  });

  it('cannot be shut down by its lease: a person is asked', () => {
    const step = decide({ ...failed, ...over(GRACE_MS, 'Shutdown') });
    expect(step).toMatchObject({ verdict: { reason: 'NeedsUser' } });
  });
});
