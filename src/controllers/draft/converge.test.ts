import { Priority } from '../../base/priority.ts';
import { describe, expect, it } from 'vitest';
import {
  ServiceError,
  type BlobRecord,
  type BoxRecord,
  type ServiceErrorCode,
  type Write,
} from '../../service/index.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import type { DesiredVariable } from '../content/variables.ts';
import type { Convergence, Pass } from '../record/kind.ts';
import { Memories } from '../record/memory.ts';
import { testFile } from '../content/test-file.ts';
import { driftList } from '../record/differences.ts';
import { convergeDraft, type DraftMemory, type DraftResource } from './converge.ts';
import type { Draft } from './draft.ts';

const MARKER = 'bw-marker';
const SCRIPT = {
  event: 'install',
  destinationPath: undefined,
  file: testFile('events.install', 'echo', { hmac: 'k:echo', shown: 'k:echo', hashOf: () => 'k:echo' }),
};

function draft(more: Partial<Draft> = {}): Draft {
  return {
    name: 'web',
    fields: { description: 'Front' },
    asked: {},
    variables: [],
    events: [],
    attachments: [],
    members: [],
    hash: 'k:one',
    ...more,
  };
}

const password = (value: string): DesiredVariable => ({
  key: 'PASS',
  name: 'PASS',
  scope: '',
  secret: true,
  hmac: `k:${value}`,
  wire: { name: 'PASS', type: 'Password', value },
});

const failure = (code: ServiceErrorCode): Write<never> => ({
  kind: 'refused',
  error: new ServiceError({ code, method: 'PUT', template: '/services/boxes/{box_id}' }),
  startedAt: 0,
  endedAt: 1,
});

/** One box resource whose passes can be made one after the other, over a service with one record. */
class Bench {
  readonly puts: BoxRecord[] = [];
  uploads = 0;
  readonly clock = new VirtualClock();
  /** What a PUT and an upload are answered with; by default as asked. */
  onPut: (body: BoxRecord) => Write<BoxRecord> = (record) => ({
    kind: 'ok',
    record,
    startedAt: this.clock.monotonic(),
    endedAt: this.clock.monotonic(),
  });
  onUpload: () => Write<BlobRecord> = () => ({
    kind: 'ok',
    record: { url: `/blobs/${++this.uploads}` },
    startedAt: this.clock.monotonic(),
    endedAt: this.clock.monotonic(),
  });
  record: BoxRecord;
  status: DraftResource['status'];
  readonly spec: Record<string, unknown>;
  readonly memory: DraftMemory;

  constructor(record: object, { spec = {}, status = {} }: { spec?: object; status?: object } = {}) {
    this.record = { id: 'b', name: 'web', ...record };
    this.spec = { ...spec };
    this.status = { observedGeneration: 1, ...status };
    this.memory = new Memories<BoxRecord, DraftMemory>(
      (base) => ({
        ...base,
        uploads: new Map(),
        refusedFiles: undefined,
        put: undefined,
        begun: undefined,
        provider: undefined,
      }),
      {
        clock: this.clock,
        random: () => 0,
      },
    ).of('k', 'u');
  }

  /** One pass; what it sent and says becomes what the next one meets. */
  async pass(declared: Draft): Promise<Convergence<DraftResource>> {
    const client = {
      stamp: () => this.clock.monotonic(),
      boxes: {
        update: (_id: string, body: BoxRecord) => {
          this.puts.push(body);
          const write = this.onPut(body);
          if (write.kind === 'ok' && write.record !== undefined) this.record = write.record;
          return Promise.resolve(write);
        },
      },
      blobs: { uploadRaw: () => Promise.resolve(this.onUpload()) },
    };
    const pass = {
      resource: { kind: 'Box', metadata: { generation: 1 }, spec: this.spec, status: this.status },
      memory: this.memory,
      marker: MARKER,
      handle: { client, poll: { settledMs: 1_000 }, defaults: {} } as unknown as ConnectionHandle,
      owner: 'shop-team',
      priority: new Priority('normal'),
      signal: new AbortController().signal,
      secretsAfter: undefined,
      now: 0,
      random: () => 0.5,
    } as unknown as Pass<DraftResource, BoxRecord, DraftMemory>;
    const done = await convergeDraft<DraftResource>(pass, this.record, declared);
    this.status = { ...this.status, ...done.fields } as DraftResource['status'];
    return done;
  }

  /** Passes until one does not ask for the next; answers the reason that the last one gives. */
  async settle(declared: Draft): Promise<string> {
    for (let left = 10; left > 0; left--) {
      const { verdict, again, afresh } = await this.pass(declared);
      if (again !== true && afresh !== true) return verdict.reason;
    }
    throw new Error('ten passes and no end');
  }
}

describe('a record that was just made', () => {
  it('gets its scripts uploaded once each, then its name and all the rest by one PUT', async () => {
    const bench = new Bench({ name: MARKER });
    const declared = draft({ events: [SCRIPT] });
    expect(await bench.settle(declared)).toBe('Settled');
    expect(bench.uploads).toBe(1);
    expect(bench.puts).toMatchObject([
      { name: 'web', description: 'Front', events: { install: { url: '/blobs/1' } } },
    ]);
    expect(bench.status).toMatchObject({
      draftHash: 'k:one',
      files: [{ path: 'events.install', hmac: 'k:echo', url: '/blobs/1' }],
    });
    expect(await bench.settle(declared)).toBe('Settled');
    expect([bench.uploads, bench.puts.length]).toEqual([1, 1]);
  });
});

describe('a change', () => {
  it('is noted in status before it puts a variable there, so that nothing stays that nobody takes away', async () => {
    const bench = new Bench(
      { description: 'Front' },
      { status: { draftHash: 'k:one', managed: { variables: ['OLD'] } } },
    );
    const declared = draft({ hash: 'k:two', variables: [password('hunter22')] });
    const first = await bench.pass(declared);
    expect(first).toMatchObject({ again: true, fields: { managed: { variables: ['OLD', 'PASS'] } } });
    expect(bench.puts).toEqual([]);
    expect(await bench.settle(declared)).toBe('Settled');
    expect(bench.status).toMatchObject({ draftHash: 'k:two', managed: { variables: ['PASS'] } });
  });

  it('notes the properties of a profile before it puts them there', async () => {
    const bench = new Bench(
      { profile: { image: 'a', theirs: 1 } },
      { status: { draftHash: 'k:one', managed: { profile: ['/image', '/keypair'] } } },
    );
    const declared = draft({ hash: 'k:two', asked: { profile: { image: 'b', net: { id: 7 } } } });
    const first = await bench.pass(declared);
    expect(first).toMatchObject({
      again: true,
      fields: { managed: { profile: ['/image', '/keypair', '/net/id'] } },
    });
    expect(bench.puts).toEqual([]);
    expect(await bench.settle(declared)).toBe('Settled');
    expect(bench.puts).toMatchObject([{ profile: { image: 'b', net: { id: 7 }, theirs: 1 } }]);
    expect(bench.status).toMatchObject({ managed: { profile: ['/image', '/net/id'] } });
  });

  it('is not sent where it would wipe a secret that only the service knows', async () => {
    const theirs = { name: 'THEIRS', type: 'Password', value: '****' };
    const bench = new Bench(
      { description: 'Front', variables: [theirs] },
      { status: { draftHash: 'k:one' } },
    );
    const { verdict } = await bench.pass(draft({ hash: 'k:two' }));
    expect(verdict).toMatchObject({ reason: 'NotApplied', message: expect.stringContaining('THEIRS') });
    expect(bench.puts).toEqual([]);
  });

  it.each([
    ['visibility', { visibility: 'workspace' }, { visibility: 'public' }],
    ['profile.flavor', { profile: { flavor: 's', image: 'a' } }, { profile: { flavor: 'm', image: 'a' } }],
  ])('that the service keeps out is named, and not sent again: %s', async (field, old, asked) => {
    const bench = new Bench(old, {
      status: { draftHash: 'k:one', managed: { profile: ['/flavor', '/image'] } },
    });
    bench.onPut = (body) => ({ kind: 'ok', record: { ...body, ...old }, startedAt: 0, endedAt: 0 });
    const declared = draft({ hash: 'k:two', asked });
    const { verdict } = await bench.pass(declared);
    expect(verdict).toMatchObject({ reason: 'NotApplied', message: expect.stringContaining(field) });
    expect(await bench.settle(declared)).toBe('NotApplied');
    expect(bench.puts).toHaveLength(1);
    // What the service does take is put right all the same.
    bench.record = { ...bench.record, description: 'Edited elsewhere' };
    expect(await bench.settle(declared)).toBe('NotApplied');
    expect(bench.puts).toHaveLength(2);
  });

  it('to a name that is taken says so, and is tried again slowly', async () => {
    const bench = new Bench({}, { status: { draftHash: 'k:one' } });
    bench.onPut = () => failure('Conflict');
    const declared = draft({ name: 'taken', hash: 'k:two' });
    expect(await bench.settle(declared)).toBe('NameTaken');
    await bench.clock.advance(599_999);
    expect(await bench.settle(declared)).toBe('NameTaken');
    expect(bench.puts).toHaveLength(1);
    await bench.clock.advance(1);
    await bench.settle(declared);
    expect(bench.puts).toHaveLength(2);
    // A change is tried at once.
    bench.onPut = (record) => ({ kind: 'ok', record, startedAt: 0, endedAt: 0 });
    expect(await bench.settle(draft({ hash: 'k:three' }))).toBe('Settled');
  });

  it('is acted upon only once the record was read singly', async () => {
    const bench = new Bench({}, { status: { draftHash: 'k:one' } });
    bench.memory.glances = 1;
    expect(await bench.pass(draft({ hash: 'k:two' }))).toMatchObject({ afresh: true });
    expect(bench.puts).toEqual([]);
  });
});

describe('a refusal', () => {
  it('of the credentials does not make what was declared refused at once', async () => {
    const bench = new Bench({}, { status: { draftHash: 'k:one' } });
    bench.onPut = () => failure('CredentialsRejected');
    bench.onUpload = () => failure('CredentialsRejected');
    expect(await bench.settle(draft({ hash: 'k:two' }))).toBe('WaitingForConnection');
    expect(await bench.settle(draft({ hash: 'k:two', events: [SCRIPT] }))).toBe('WaitingForConnection');
  });

  it.each(['BadRequest', 'Forbidden', 'NotFound'] as const)(
    '(%s) is told, and not sent again before ten minutes',
    async (code) => {
      const bench = new Bench({}, { status: { draftHash: 'k:one' } });
      bench.onPut = () => failure(code);
      expect(await bench.pass(draft({ hash: 'k:two' }))).toMatchObject({
        verdict: { reason: 'Refused', recheckAfterMs: 600_000 },
      });
      await bench.clock.advance(599_999);
      expect(await bench.settle(draft({ hash: 'k:two' }))).toBe('Refused');
      expect(bench.puts).toHaveLength(1);
    },
  );

  it('of a file names it, and the file is not sent again before it changes, but slowly', async () => {
    const bench = new Bench({}, { status: { draftHash: 'k:one' } });
    let uploads = 0;
    bench.onUpload = () => {
      uploads++;
      return failure('BadRequest');
    };
    const declared = draft({ hash: 'k:two', events: [SCRIPT] });
    const { verdict } = await bench.pass(declared);
    expect(verdict).toMatchObject({
      reason: 'Refused',
      message: expect.stringContaining('events.install'),
      recheckAfterMs: 600_000,
    });
    expect(await bench.settle(declared)).toBe('Refused');
    await bench.settle(draft({ hash: 'k:three', events: [SCRIPT] }));
    expect(uploads).toBe(1);
    const file = { ...SCRIPT.file, hmac: 'k:other', shown: 'k:other', hashOf: () => 'k:other' };
    await bench.settle(draft({ hash: 'k:four', events: [{ ...SCRIPT, file }] }));
    expect(uploads).toBe(2);
  });
});

describe('drift', () => {
  const inPlace = { draftHash: 'k:one' };
  const drifted = { description: 'Edited elsewhere' };

  it('is put right, and given up once the same one came back three times', async () => {
    const bench = new Bench(drifted, { status: inPlace });
    for (let times = 0; times < 3; times++) {
      const done = await bench.pass(draft());
      expect(done).toMatchObject({ verdict: { reason: 'Settled' }, corrected: true });
      await bench.clock.advance(600_000);
      bench.record = { ...bench.record, ...drifted };
    }
    const { verdict } = await bench.pass(draft());
    expect(verdict).toMatchObject({
      reason: 'NotConverging',
      message: expect.stringContaining('description'),
    });
    expect(bench.puts).toHaveLength(3);
  });

  it('is only told with Report, and nobody looks with Ignore', async () => {
    const reporting = new Bench(drifted, { status: inPlace, spec: { driftPolicy: 'Report' } });
    const { verdict, fields } = await reporting.pass(draft());
    expect(verdict).toMatchObject({ reason: 'Settled', extra: [{ type: 'Drifted' }] });
    expect(fields).toMatchObject({
      drift: [{ field: 'description', want: 'Front', have: 'Edited elsewhere' }],
    });
    const ignoring = new Bench(drifted, { status: inPlace, spec: { driftPolicy: 'Ignore' } });
    expect(await ignoring.settle(draft())).toBe('Settled');
    expect([...reporting.puts, ...ignoring.puts]).toEqual([]);
  });

  it('of a record that was there before counts from the first look on', async () => {
    const attached = new Bench(drifted, { spec: { driftPolicy: 'Report' } });
    expect(await attached.pass(draft())).toMatchObject({ verdict: { extra: [{ type: 'Drifted' }] } });
    expect(attached.puts).toEqual([]);
  });

  it('is listed sorted, and without what the service masks', () => {
    const differences = ['b', 'a'].map((field) => ({ field, want: 'w', have: '******' }));
    expect(driftList(differences)).toEqual([
      { field: 'a', want: 'w', have: '****' },
      { field: 'b', want: 'w', have: '****' },
    ]);
  });
});
