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

class Bench {
  readonly clock = new VirtualClock();
  readonly puts: InstanceRecord[] = [];
  record = RECORD;
  lease: typeof LEASE | undefined;
  leaseToTakeOff = false;
  onPut: (body: InstanceRecord) => Write<InstanceRecord> = (record) => ({
    kind: 'ok',
    record,
    startedAt: 0,
    endedAt: 1,
  });
  readonly memory = new Memories<InstanceRecord, InstanceMemory>((base) => base as InstanceMemory).of(
    'k',
    'u',
    0,
  );

  put(): ReturnType<typeof putRecord> {
    const update = (_id: string, body: InstanceRecord): Promise<Write<InstanceRecord>> => {
      this.puts.push(body);
      return Promise.resolve(this.onPut(body));
    };
    const pass = {
      memory: this.memory,
      handle: { client: { instances: { update } } },
      now: 0,
      random: () => 0.5,
    } as unknown as InstancePass;
    const seen = {
      plan: { tags: ['theirs', 'ours'], variables: [] },
      lease: this.lease,
      leaseToTakeOff: this.leaseToTakeOff,
      status: {},
    } as unknown as InstanceObservation;
    return putRecord(pass, this.record, DESIRED, seen, {}, this.clock);
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
    expect(bench.memory.putHash).toBe('k:h');
    expect(bench.memory.putWhileDown).toBeUndefined();
  });

  it('to an instance that is shut down is left to the power-on', async () => {
    const bench = new Bench();
    bench.record = { ...RECORD, operation: { event: 'shutdown' } };
    await bench.put();
    expect(bench.memory.putWhileDown).toBe('k:h');
  });

  it('knows whether the service keeps a lease', async () => {
    const bench = new Bench();
    bench.lease = LEASE;
    await bench.put();
    expect(bench.puts[0]?.lease).toMatchObject({ operation: 'shutdown' });
    expect(bench.memory.leasePut).toEqual({ terms: 't', kept: true });
    bench.onPut = () => ({ kind: 'ok', record: RECORD, startedAt: 0, endedAt: 1 });
    await bench.put();
    expect(bench.memory.leasePut).toEqual({ terms: 't', kept: false });
  });

  it('takes a lease off in one way, then in the other', async () => {
    const bench = new Bench();
    bench.record = { ...RECORD, lease: { operation: 'shutdown' } };
    bench.leaseToTakeOff = true;
    await bench.put();
    await bench.put();
    expect(bench.puts.map(({ lease }) => lease)).toEqual([undefined, { operation: 'alwayson' }]);
  });

  it('that is refused is said and not tried again before long', async () => {
    const bench = new Bench();
    bench.refuse('BadRequest');
    expect(await bench.put()).toMatchObject({ verdict: { reason: 'Refused', recheckAfterMs: 600_000 } });
    expect(await bench.put()).toMatchObject({ verdict: { reason: 'Refused' } });
    expect(bench.puts).toHaveLength(1);
  });

  it.each<[ServiceErrorCode, string]>([
    ['Conflict', 'Updating'],
    ['CredentialsRejected', 'WaitingForConnection'],
    ['Forbidden', 'Unknown'],
  ])('that is refused with %s is tried again soon', async (code, reason) => {
    const bench = new Bench();
    bench.refuse(code);
    const first = await bench.put();
    expect(first.verdict.reason).toBe(reason);
    expect(first.verdict.recheckAfterMs).toBeLessThan(5_000);
    await bench.put();
    expect(bench.puts).toHaveLength(2);
  });
});
