import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import {
  ServiceError,
  type InstanceRecord,
  type ServiceErrorCode,
  type Write,
} from '../../../service/index.ts';
import { Memories } from '../../record/memory.ts';
import type { InstanceObservation } from '../decide.ts';
import type { DesiredInstance } from '../desired.ts';
import type { InstanceMemory } from '../memory.ts';
import type { InstancePass } from '../pass.ts';
import type { PutReason } from '../aspects/state.ts';
import { putRecord } from './put.ts';

const RECORD: InstanceRecord = {
  id: 'i',
  state: 'done',
  operation: { event: 'deploy' },
  tags: ['theirs'],
  friendly: 'kept',
};
const DESIRED = { hash: 'k:h', tags: ['ours'], variables: [], secrets: [] } as unknown as DesiredInstance;
const LEASE = { terms: 't', operation: 'Shutdown', expire: Date.UTC(2026, 0, 2), isNew: false };
const SECRET = { name: 'PASS', type: 'Password', value: 'real' };

class Bench {
  readonly clock = new VirtualClock();
  readonly puts: InstanceRecord[] = [];
  record = RECORD;
  lease: typeof LEASE | undefined;
  onPut: (body: InstanceRecord) => Write<InstanceRecord> = (record) => ({
    kind: 'ok',
    record,
    startedAt: 0,
    endedAt: 1,
  });
  readonly memory = new Memories<InstanceRecord, InstanceMemory>(
    (base) => ({ ...base, uploads: new Map() }) as unknown as InstanceMemory,
    {
      clock: this.clock,
      random: () => 0,
    },
  ).of('k', 'u');

  put(why: PutReason = 'content'): ReturnType<typeof putRecord> {
    const update = (_id: string, body: InstanceRecord): Promise<Write<InstanceRecord>> => {
      this.puts.push(body);
      return Promise.resolve(this.onPut(body));
    };
    const pass = {
      memory: this.memory,
      handle: { client: { stamp: () => 0, instances: { update } } },
      now: 0,
    } as unknown as InstancePass;
    const seen = {
      plan: { tags: ['theirs', 'ours'], variables: [], carried: [SECRET] },
      lease: this.lease,
      tagsHash: 'tags',
      status: { managed: { tags: ['before'], variables: ['PASS'] } },
    } as unknown as InstanceObservation;
    const attempt = { attempts: this.memory.attempts, aspect: 'content', fingerprint: why } as const;
    return putRecord(pass, this.record, DESIRED, seen, { why, attempt, meant: {}, correcting: false });
  }

  refuse(code: ServiceErrorCode): void {
    const error = new ServiceError({ code, method: 'PUT', template: '/services/instances/{id}' });
    this.onPut = () => ({ kind: 'refused', error, startedAt: 0, endedAt: 1 });
  }
}

describe('a PUT of an instance', () => {
  it('brings the whole record as read, with ours laid over it', async () => {
    const bench = new Bench();
    const done = await bench.put();
    expect(bench.puts).toEqual([{ ...RECORD, tags: ['theirs', 'ours'], variables: [] }]);
    expect(done).toMatchObject({ again: true, fields: { managed: { tags: ['ours'] } } });
    expect(bench.memory.put).toEqual({ id: 'i', hash: 'k:h', whileDown: false });
  });

  it('for one aspect carries what the record has of the others, and moves nothing of theirs', async () => {
    const bench = new Bench();
    bench.lease = LEASE;
    const lease = await bench.put('lease');
    expect(bench.puts[0]).toMatchObject({ tags: ['theirs'], variables: [SECRET] });
    expect(lease.fields).toEqual({});
    const tags = await bench.put('tags');
    expect(bench.puts[1]).toMatchObject({ tags: ['theirs', 'ours'], variables: [SECRET] });
    expect(tags.fields).toEqual({ managed: { tags: ['ours'], variables: ['PASS'] } });
    expect(bench.memory.put).toBeUndefined();
  });

  it('to an instance that is shut down is left to the power-on', async () => {
    const bench = new Bench();
    bench.record = { ...RECORD, operation: { event: 'shutdown' } };
    await bench.put();
    expect(bench.memory.put).toEqual({ id: 'i', hash: 'k:h', whileDown: true });
  });

  it('whose answer is lost leaves unknown what is there; a refused one leaves what was', async () => {
    const bench = new Bench();
    await bench.put();
    const before = bench.memory.put;
    bench.refuse('BadRequest');
    await bench.put();
    expect(bench.memory.put).toEqual(before);
    const error = new ServiceError({ code: 'Timeout', method: 'PUT', template: '/services/instances/{id}' });
    bench.onPut = () => ({ kind: 'unknown', error, startedAt: 0, endedAt: 1 });
    await bench.put();
    expect(bench.memory.put).toBeUndefined();
  });

  it('knows whether the service keeps a lease', async () => {
    const bench = new Bench();
    bench.lease = LEASE;
    await bench.put('lease');
    expect(bench.puts[0]?.lease).toMatchObject({ operation: 'shutdown' });
    expect(bench.memory.leasePut).toEqual({ terms: 't', kept: true });
    bench.onPut = () => ({ kind: 'ok', record: RECORD, startedAt: 0, endedAt: 1 });
    await bench.put('lease');
    expect(bench.memory.leasePut).toEqual({ terms: 't', kept: false });
  });

  it('takes a lease off in one way, then in the other', async () => {
    const bench = new Bench();
    bench.record = { ...RECORD, lease: { operation: 'shutdown' } };
    await bench.put('lease');
    await bench.put('lease');
    expect(bench.puts.map(({ lease }) => lease)).toEqual([undefined, { operation: 'alwayson' }]);
  });

  it.each<[ServiceErrorCode, string, number]>([
    ['BadRequest', 'Refused', 600_000],
    ['Forbidden', 'Refused', 600_000],
    ['Conflict', 'Updating', 1_000],
    ['CredentialsRejected', 'WaitingForConnection', 1_000],
  ])(
    'that is refused with %s is said, and tried again when the ledger says so',
    async (code, reason, wait) => {
      const bench = new Bench();
      bench.refuse(code);
      expect(await bench.put()).toMatchObject({ verdict: { reason, recheckAfterMs: wait } });
      expect(bench.memory.attempts.held('content', 'content')).toMatchObject({ retryAfterMs: wait });
    },
  );
});
