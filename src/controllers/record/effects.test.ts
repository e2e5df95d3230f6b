import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ServiceError, type BoxRecord, type Write } from '../../service/index.ts';
import type { OperatorContext } from '../context.ts';
import type { Claims } from './claims.ts';
import { Effects } from './effects.ts';
import type { Pass, RecordKind } from './kind.ts';
import { Memories, type Memory } from './memory.ts';
import type { ManagedResource, ResourceCache } from './resource.ts';

type BoxPass = Pass<ManagedResource, BoxRecord, Memory<BoxRecord>>;

const INTENT = { at: '2026-01-01T00:00:00Z', try: 1, skip: [] };

/** Creates one record over a service that answers as told. */
class Bench {
  readonly clock = new VirtualClock();
  readonly memory = new Memories<BoxRecord>((base) => base, { clock: this.clock, random: () => 0 }).of(
    'k',
    'u',
  );
  send: () => Promise<Write<BoxRecord>> = () => Promise.reject(new Error('not planned'));

  constructor() {
    this.memory.intent = { text: 'intent', seenAt: this.clock.monotonic(), outcome: 'unsent' };
  }

  create(): Promise<unknown> {
    const kind = { noun: 'box', meant: () => 'meant', create: () => this.send() };
    const effects = new Effects(
      { clock: this.clock } as unknown as OperatorContext,
      kind as unknown as RecordKind<ManagedResource, BoxRecord, string>,
      {} as ResourceCache<ManagedResource>,
      {} as Claims<ManagedResource>,
    );
    const handle = { poll: { lagWindowMs: 60_000 } };
    const pass = { memory: this.memory, marker: 'marker', handle } as unknown as BoxPass;
    return effects.create(pass, INTENT, 'wanted');
  }
}

const error = new ServiceError({ code: 'Timeout', method: 'POST', template: '/services/boxes' });

describe('a create', () => {
  it('is of unknown outcome from before it goes, so that a pass that ends in between sends no other', async () => {
    const bench = new Bench();
    bench.send = () => Promise.reject(new Error('aborted'));
    await expect(bench.create()).rejects.toThrow('aborted');
    expect(bench.memory.intent?.outcome).toBe('unknown');
  });

  it('that waited for its turn is waited for from when it went out, not from its intent', async () => {
    const bench = new Bench();
    const startedAt = bench.clock.monotonic() + 120_000;
    bench.send = () => Promise.resolve({ kind: 'unknown', error, startedAt, endedAt: startedAt + 30_000 });
    await bench.create();
    expect(bench.memory.intent).toMatchObject({ outcome: 'unknown', seenAt: startedAt });
  });

  it('that was certainly not sent is sent again', async () => {
    const bench = new Bench();
    bench.send = () => Promise.resolve({ kind: 'notSent', error });
    await bench.create();
    expect(bench.memory.intent?.outcome).toBe('unsent');
  });
});
