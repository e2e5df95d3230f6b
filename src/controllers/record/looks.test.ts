import { Priority } from '../../base/priority.ts';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ServiceError, type BoxRecord, type Read } from '../../service/index.ts';
import type { Pass, RecordKind } from './kind.ts';
import { Looks } from './looks.ts';
import { Memories, type Memory } from './memory.ts';
import type { ManagedResource } from './resource.ts';

const LAG = 60_000;
const RECORD: BoxRecord = { id: 'b', name: 'web', updated: '2026-01-01 12:00:00.000000' };

function found<T>(record: T, startedAt: number): Read<T> {
  return { kind: 'found', record, startedAt };
}

function refused(status: number): Read<never> {
  const code = status === 403 ? 'Forbidden' : 'ServerError';
  return {
    kind: 'unknown',
    error: new ServiceError({ code, method: 'GET', template: '/services/boxes/{box_id}', status }),
  };
}

/** Looks at one record, over a service that answers as told. */
class Bench {
  now = 100_000;
  single: () => Read<BoxRecord> = () => found(RECORD, this.now);
  list: BoxRecord[] = [RECORD];
  workspaces = [{ id: 'shop' }];
  claimant: string | undefined;
  deleteSentAt: string | undefined;
  reads = 0;
  readonly memory: Memory<BoxRecord> = new Memories<BoxRecord>((base) => base, {
    clock: new VirtualClock(),
    random: () => 0,
  }).of('k', 'u');

  get looks(): Looks<ManagedResource, BoxRecord, unknown, Memory<BoxRecord>> {
    const kind = {
      family: 'boxes',
      candidate: (record: BoxRecord) => ({ id: record.id, marked: record.name === 'marker', named: false }),
      showsNothingNew: (entry: BoxRecord, known: BoxRecord) => entry.updated === known.updated,
      misfit: () => undefined,
      read: () => {
        this.reads += 1;
        return Promise.resolve(this.single());
      },
    } as unknown as RecordKind<ManagedResource, BoxRecord, unknown>;
    return new Looks(kind, () => this.claimant);
  }

  pass(priority: 'user' | 'periodic' = 'user'): Pass<ManagedResource, BoxRecord, Memory<BoxRecord>> {
    const client = {
      stamp: () => ++this.now,
      shared: {
        list: (family: string) =>
          Promise.resolve(found<unknown>(family === 'workspaces' ? this.workspaces : this.list, ++this.now)),
      },
      workspaces: { read: () => Promise.resolve(found(this.workspaces[0], this.now)) },
    };
    return {
      resource: {
        metadata: { name: 'web' },
        status: this.deleteSentAt === undefined ? {} : { deleteSentAt: this.deleteSentAt },
      },
      memory: this.memory,
      marker: 'marker',
      owner: 'shop',
      priority: new Priority(priority),
      random: () => 0.5,
      signal: new AbortController().signal,
      handle: { client, endpoint: 'e', poll: { processingMs: 5_000, lagWindowMs: LAG } },
    } as unknown as Pass<ManagedResource, BoxRecord, Memory<BoxRecord>>;
  }

  async exists(priority?: 'user' | 'periodic'): Promise<string> {
    const looked = await this.looks.existence(this.pass(priority), 'b', this.deleteSentAt !== undefined);
    return looked.kind === 'failed' ? looked.verdict.reason : looked.value.kind;
  }
}

const absent = (): Read<never> => ({ kind: 'missing', startedAt: 0 }) as unknown as Read<never>;

describe('whether a record exists', () => {
  it('is not answered by 403, 5xx, or one look that does not see it', async () => {
    const bench = new Bench();
    bench.single = () => refused(403);
    expect(await bench.exists()).toBe('Unknown');
    bench.single = () => refused(500);
    expect(await bench.exists()).toBe('ServiceUnavailable');
    bench.single = () => ({ ...absent(), startedAt: bench.now });
    bench.list = [];
    expect(await bench.exists()).toBe('unproved');
    bench.now += 11_000;
    expect(await bench.exists()).toBe('absent');
  });

  it('is not denied while the list has it, or the workspace cannot be seen in the list', async () => {
    const bench = new Bench();
    bench.single = () => ({ ...absent(), startedAt: bench.now });
    expect(await bench.exists()).toBe('unproved');
    bench.now += LAG;
    expect(await bench.exists()).toBe('unproved');
  });

  it('is denied at once after our own delete', async () => {
    const bench = new Bench();
    bench.deleteSentAt = '2026-01-01T12:00:00Z';
    bench.memory.deletion = 'accepted';
    bench.single = () => refused(403);
    bench.list = [];
    expect(await bench.exists()).toBe('absent');
    bench.memory.deletion = 'forbidden';
    expect(await bench.exists()).toBe('unproved');
  });

  it('is answered by a glance at the list in periodic looks, while it shows nothing new', async () => {
    const bench = new Bench();
    await bench.exists('periodic');
    await bench.exists('periodic');
    expect(bench.reads).toBe(1);
    bench.list = [{ ...RECORD, updated: '2026-01-01 12:00:01.000000' }];
    await bench.exists('periodic');
    expect(bench.reads).toBe(2);
  });
});

describe('a record that is to be adopted and is not seen', () => {
  it('is looked for soon, when a lag has passed, and then less often', async () => {
    const bench = new Bench();
    bench.list = [];
    const waits: number[] = [];
    for (let times = 0; times < 9; times++) {
      const looked = await bench.looks.adoptee(bench.pass(), 'b');
      if (looked.kind !== 'seen' || looked.value.kind !== 'elsewhere') throw new Error(looked.kind);
      waits.push(looked.value.recheckAfterMs);
      bench.now += looked.value.recheckAfterMs;
    }
    expect(waits[0]).toBe(2_000);
    expect(waits.at(-1)).toBe(30_000);
    const within = waits.slice(0, -2).reduce((sum, wait) => sum + wait, 0);
    expect(within).toBeGreaterThan(LAG / 2);
    expect(Math.max(...waits)).toBe(30_000);
  });

  it('is claimed by another, or free', async () => {
    const bench = new Bench();
    expect(await bench.looks.adoptee(bench.pass(), 'b')).toMatchObject({ value: { kind: 'free' } });
    bench.claimant = 'Box "other"';
    expect(await bench.looks.adoptee(bench.pass(), 'b')).toMatchObject({
      value: { kind: 'claimed', by: 'Box "other"' },
    });
  });
});

async function search(bench: Bench, made: string | undefined): Promise<string> {
  const options = { finalName: 'web', intent: undefined, notBefore: undefined, made };
  const looked = await bench.looks.search(bench.pass(), options);
  return looked.kind === 'failed' ? looked.verdict.reason : looked.value.kind;
}

describe('a search for the marker', () => {
  it('finds what was made a moment ago, though the list lacks it', async () => {
    const bench = new Bench();
    bench.list = [];
    bench.single = () => found({ ...RECORD, name: 'marker' }, bench.now);
    expect(await search(bench, 'b')).toBe('one');
    expect(await search(bench, undefined)).toBe('none');
  });

  it('concludes nothing while a single read lacks it too', async () => {
    const bench = new Bench();
    bench.list = [];
    bench.single = () => ({ ...absent(), startedAt: bench.now });
    expect(await search(bench, 'b')).toBe('unknown');
  });

  it('waits for a workspace that cannot be seen', async () => {
    const bench = new Bench();
    bench.workspaces = [];
    expect(await search(bench, undefined)).toBe('WaitingForReference');
  });
});
