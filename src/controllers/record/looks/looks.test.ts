import { Priority } from '../../../base/priority.ts';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import { ServiceError, type BoxRecord, type Read } from '../../../service/index.ts';
import type { Claims } from '../claims.ts';
import type { Pass, RecordKind } from '../kind.ts';
import { ofAccount, ofWorkspace, type Listing } from '../listing.ts';
import { Memories, type Memory } from '../memory.ts';
import { isAtHome } from '../home.ts';
import type { ManagedResource } from '../resource.ts';
import { AdoptionLooks } from './adoption.ts';
import { ExistenceLooks } from './existence.ts';
import { MarkerLooks } from './marker.ts';

const LAG = 60_000;
const DELETED_AT = '2026-01-01T12:00:00Z';
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
  deleting = false;
  held = 1;
  mayBeDeleted = true;
  home: { endpoint: string; owner: string; account?: string } | undefined;
  account: string | undefined = 'ops@example.com';
  listing: Listing = ofWorkspace('boxes');
  reads = 0;
  readonly asked = new Set<string>();
  readonly memory: Memory<BoxRecord> = new Memories<BoxRecord>((base) => base, {
    clock: new VirtualClock(),
    random: () => 0,
  }).of('k', 'u');

  get existence(): ExistenceLooks<ManagedResource, BoxRecord, unknown, Memory<BoxRecord>> {
    return new ExistenceLooks(this.#kind, { held: () => this.held, wake: () => undefined });
  }

  get marked(): MarkerLooks<ManagedResource, BoxRecord, unknown, Memory<BoxRecord>> {
    return new MarkerLooks(this.#kind, this.#claims);
  }

  get adoption(): AdoptionLooks<ManagedResource, BoxRecord, unknown, Memory<BoxRecord>> {
    return new AdoptionLooks(this.#kind, this.#claims);
  }

  get #kind(): RecordKind<ManagedResource, BoxRecord, unknown> {
    return {
      listing: this.listing,
      candidate: (record: BoxRecord) => ({ id: record.id, marked: record.name === 'marker', named: false }),
      showsNothingNew: (entry: BoxRecord, known: BoxRecord) => entry.updated === known.updated,
      misfit: () => undefined,
      mayBeDeleted: () => this.mayBeDeleted,
      read: () => {
        this.reads += 1;
        return Promise.resolve(this.single());
      },
    } as unknown as RecordKind<ManagedResource, BoxRecord, unknown>;
  }

  get #claims(): Claims<ManagedResource> {
    return {
      holder: () => this.claimant,
      nameOf: (other: string) => other,
    } as unknown as Claims<ManagedResource>;
  }

  pass(priority: 'new' | 'periodic' = 'new'): Pass<ManagedResource, BoxRecord, Memory<BoxRecord>> {
    const client = {
      stamp: () => ++this.now,
      shared: {
        list: (family: string, at: string) => {
          this.asked.add(`${family} of "${at}"`);
          const isDenied = family === 'workspace' && this.workspaces[0] === undefined;
          if (isDenied) return Promise.resolve(refused(403));
          const isOwn = family === this.listing.family;
          return Promise.resolve(found<unknown>(isOwn ? this.list : this.workspaces, ++this.now));
        },
      },
      workspaces: {
        read: () =>
          Promise.resolve(
            this.workspaces[0] === undefined ? refused(403) : found(this.workspaces[0], this.now),
          ),
      },
    };
    return {
      resource: {
        metadata: this.deleting ? { name: 'web', deletionTimestamp: DELETED_AT } : { name: 'web' },
        spec: {},
        status: {
          ...(this.deleteSentAt === undefined ? {} : { deleteSentAt: this.deleteSentAt }),
          ...(this.home === undefined ? {} : { home: this.home }),
        },
      },
      memory: this.memory,
      marker: 'marker',
      home: this.home,
      owner: 'shop',
      priority: new Priority(priority),
      random: () => 0.5,
      signal: new AbortController().signal,
      handle: {
        client,
        endpoint: 'e',
        account: this.account,
        poll: { processingMs: 5_000, lagWindowMs: LAG },
      },
    } as unknown as Pass<ManagedResource, BoxRecord, Memory<BoxRecord>>;
  }

  /** Reads show nothing of it any more. */
  gone(): void {
    this.single = () => ({ ...absent(), startedAt: this.now });
    this.list = [];
  }

  /** Looks when told to, and answers how long it took until it was gone. */
  async untilGone(limitMs: number): Promise<number | undefined> {
    const begin = this.now;
    while (this.now - begin <= limitMs) {
      const looked = await this.existence.look(this.pass(), 'b');
      if (looked.kind === 'seen' && looked.value.kind === 'absent') return this.now - begin;
      this.now +=
        looked.kind === 'failed'
          ? (looked.verdict.recheckAfterMs ?? LAG)
          : looked.value.kind === 'unproved'
            ? looked.value.recheckAfterMs
            : LAG;
    }
    return undefined;
  }

  /** A DELETE of ours that was answered so. */
  async sent(how: string, status: number): Promise<void> {
    const stamps = { startedAt: this.now, endedAt: this.now };
    const error = new ServiceError({
      code: 'NotFound',
      method: 'DELETE',
      template: '/services/boxes/{box_id}',
      status,
    });
    const from = (this.memory.absence.lastWriteAt ?? -Infinity) + LAG;
    await this.memory.deletes.sending(how, { from }, () =>
      Promise.resolve(
        status < 300 ? { kind: 'ok', record: undefined, ...stamps } : { kind: 'refused', error, ...stamps },
      ),
    );
  }

  async exists(priority?: 'new' | 'periodic'): Promise<string> {
    const looked = await this.existence.look(this.pass(priority), 'b');
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
    expect(await bench.untilGone(200_000)).toBeGreaterThanOrEqual(LAG);
  });

  it('is not denied while the list has it, or the workspace cannot be seen in the list', async () => {
    const bench = new Bench();
    bench.single = () => ({ ...absent(), startedAt: bench.now });
    expect(await bench.exists()).toBe('unproved');
    bench.now += LAG;
    expect(await bench.exists()).toBe('unproved');
  });

  it('takes five windows to be denied where all that is held in the workspace is missing', async () => {
    const bench = new Bench();
    bench.held = 2;
    bench.gone();
    expect(await bench.untilGone(1_000_000)).toBeGreaterThanOrEqual(5 * LAG);
    bench.list = [{ ...RECORD, id: 'another' }];
    expect(await bench.untilGone(1_000_000)).toBeLessThan(2 * LAG);
  });

  it('is not denied from another endpoint, nor by another account than the one that found it', async () => {
    for (const home of [
      { endpoint: 'other', owner: 'shop', account: 'ops@example.com' },
      { endpoint: 'e', owner: 'shop', account: 'dev@example.com' },
    ]) {
      for (const deleting of [false, true]) {
        const bench = new Bench();
        Object.assign(bench, { home, deleting });
        bench.gone();
        expect(await bench.untilGone(10 * LAG)).toBeUndefined();
        const looked = await bench.existence.look(bench.pass(), 'b');
        const { message } = looked.kind === 'failed' ? looked.verdict : { message: '' };
        expect(message).toContain(home.endpoint);
        expect(message).toContain(home.account);
        expect(message).toContain('ops@example.com');
        expect(message).toContain('Orphan');
      }
    }
  });

  it('is denied at once after our own accepted delete, by a 403 as well', async () => {
    const bench = new Bench();
    await bench.sent('delete', 204);
    bench.deleting = true;
    bench.list = [];
    bench.single = () => refused(403);
    expect(await bench.exists()).toBe('absent');
    bench.workspaces = [];
    expect(await bench.exists()).toBe('unproved');
  });

  it('is not denied by a 403 where our delete was not answered, before a lag window is over', async () => {
    const bench = new Bench();
    bench.deleting = true;
    bench.deleteSentAt = DELETED_AT;
    bench.list = [];
    bench.single = () => refused(403);
    expect(await bench.untilGone(10 * LAG)).toBeGreaterThanOrEqual(LAG);
    const seen404 = new Bench();
    Object.assign(seen404, { deleting: true, deleteSentAt: DELETED_AT });
    seen404.gone();
    expect(await seen404.exists()).toBe('absent');
  });

  it('owes nothing to a delete that was noted before this deletion, or of what was not terminated', async () => {
    for (const change of [{ deleteSentAt: '2026-01-01T11:59:59Z' }, { mayBeDeleted: false }]) {
      const bench = new Bench();
      Object.assign(bench, { deleting: true, deleteSentAt: DELETED_AT }, change);
      bench.gone();
      expect(await bench.exists()).toBe('unproved');
    }
  });

  it('is not denied after a terminate, and a DELETE tells once a lag window has passed', async () => {
    const bench = new Bench();
    bench.deleting = true;
    bench.memory.absence.noteWrite(bench.now);
    await bench.sent('terminate', 202);
    bench.gone();
    const looked = await bench.existence.look(bench.pass(), 'b');
    expect(looked).toMatchObject({ value: { kind: 'unproved' } });
    expect(looked).not.toMatchObject({ value: { askByDelete: true } });
    bench.now += LAG;
    expect(await bench.existence.look(bench.pass(), 'b')).toMatchObject({ value: { askByDelete: true } });
    await bench.sent('terminate', 404);
    bench.now += 2_000;
    await bench.sent('terminate', 404);
    expect(await bench.exists()).toBe('absent');
  });

  it('is not asked by DELETE right after a start: an earlier process may have just created it', async () => {
    const bench = new Bench();
    bench.now = 0;
    bench.deleting = true;
    bench.gone();
    expect(await bench.existence.look(bench.pass(), 'b')).not.toMatchObject({
      value: { askByDelete: true },
    });
    bench.now += LAG;
    expect(await bench.existence.look(bench.pass(), 'b')).toMatchObject({ value: { askByDelete: true } });
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

  it('is not denied where every other look shows it in the list', async () => {
    const bench = new Bench();
    await bench.exists('periodic');
    const seen: string[] = [];
    for (let at = 0; at < 40; at++) {
      bench.gone();
      if (at % 2 === 0) bench.list = [RECORD];
      seen.push(await bench.exists('periodic'));
      bench.now += LAG / 12;
    }
    expect(new Set(seen)).toEqual(new Set(['found', 'unproved']));
  });
});

it('is at home with the account that found it, and with none that the service does not name', () => {
  const home = { endpoint: 'e', owner: 'shop', account: 'ops@example.com' };
  expect(isAtHome(home, { endpoint: 'e', account: 'ops@example.com', user: 'ops' })).toBe(true);
  // While the service shows no address, the personal workspace names the account.
  expect(
    isAtHome({ ...home, account: 'ops' }, { endpoint: 'e', account: 'ops@example.com', user: 'ops' }),
  ).toBe(true);
  expect(isAtHome(home, { endpoint: 'e', account: 'dev@example.com', user: 'dev' })).toBe(false);
  expect(isAtHome(home, { endpoint: 'e', account: undefined, user: undefined })).toBe(false);
  // Found by an operator that did not keep it.
  expect(
    isAtHome({ endpoint: 'e', owner: 'shop' }, { endpoint: 'e', account: undefined, user: undefined }),
  ).toBe(true);
  expect(
    isAtHome({ endpoint: 'e', owner: 'shop' }, { endpoint: 'other', account: undefined, user: undefined }),
  ).toBe(false);
});

describe('a record that is to be adopted and is not seen', () => {
  it('is looked for soon, then less and less often, and every ten minutes at the least', async () => {
    const bench = new Bench();
    bench.list = [];
    const waits: number[] = [];
    for (let times = 0; times < 12; times++) {
      const looked = await bench.adoption.adoptee(bench.pass(), 'b');
      if (looked.kind !== 'seen' || looked.value.kind !== 'elsewhere') throw new Error(looked.kind);
      waits.push(looked.value.recheckAfterMs);
      bench.now += looked.value.recheckAfterMs;
    }
    expect(waits.slice(0, 4)).toEqual([1_000, 2_000, 4_000, 8_000]);
    expect(waits.slice(-2)).toEqual([600_000, 600_000]);
  });

  it('is claimed by another, or free', async () => {
    const bench = new Bench();
    expect(await bench.adoption.adoptee(bench.pass(), 'b')).toMatchObject({ value: { kind: 'free' } });
    bench.claimant = 'Box "other"';
    expect(await bench.adoption.adoptee(bench.pass(), 'b')).toMatchObject({
      value: { kind: 'claimed', by: 'Box "other"' },
    });
  });
});

async function search(bench: Bench, made: string | undefined, mayBeBare = true): Promise<string> {
  const options = {
    mayBeBare,
    finalName: 'web',
    intent: undefined,
    notBefore: undefined,
    made,
    former: { back: [], skip: [] },
  };
  const looked = await bench.marked.look(bench.pass(), options);
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
    expect(await search(bench, 'b')).toBe('Unknown');
  });

  it('concludes nothing from a list that lacks what resources here hold', async () => {
    const bench = new Bench();
    bench.list = [];
    expect(await search(bench, undefined, false)).toBe('Unknown');
    bench.list = [{ ...RECORD, id: 'another' }];
    expect(await search(bench, undefined, false)).toBe('none');
  });

  it('waits for a workspace that cannot be seen', async () => {
    const bench = new Bench();
    bench.workspaces = [];
    expect(await search(bench, undefined)).toBe('WaitingForReference');
  });
});

function benchOfAccount(): Bench {
  const bench = new Bench();
  bench.listing = ofAccount('workspaces');
  return bench;
}

describe('a kind whose records the account lists as a whole', () => {
  it('is searched in that list alone, whoever owns the record', async () => {
    const bench = benchOfAccount();
    bench.list = [{ ...RECORD, name: 'marker' }];
    expect(await search(bench, undefined)).toBe('none');
    bench.single = () => found({ ...RECORD, name: 'marker' }, bench.now);
    expect(await search(bench, undefined)).toBe('one');
    expect([...bench.asked]).toEqual(['workspaces of ""']);
  });

  it('is denied while the account still sees its own workspace, and never while it does not', async () => {
    const bench = benchOfAccount();
    bench.gone();
    expect(await bench.untilGone(200_000)).toBeGreaterThanOrEqual(LAG);
    bench.workspaces = [];
    bench.memory.absence.noteFound();
    expect(await bench.untilGone(1_000_000)).toBeUndefined();
  });

  it('is to be reached by another account where a record to adopt is not in that list', async () => {
    const bench = benchOfAccount();
    bench.list = [];
    expect(await bench.adoption.adoptee(bench.pass(), 'b')).toMatchObject({
      value: { kind: 'elsewhere', list: 'the list of workspaces that the account sees' },
    });
  });
});
