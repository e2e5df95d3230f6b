import { describe, expect, it } from 'vitest';
import { crdOf } from '../../src/api/crd.ts';
import { KINDS, type KindName } from '../../src/api/kinds.ts';
import { customKind } from '../support/fake-kube/kinds.ts';
import type { Schema } from '../support/fake-kube/schema.ts';
import { instance } from './shop.ts';
import { CONNECTION, examples, NAMESPACE, typeOfKind, World, type WorldOptions } from '../support/world.ts';

interface Definition {
  spec: { names: { kind: string }; versions: { schema: { openAPIV3Schema: Schema } }[] };
}

const HOUR = 3_600_000;

/** A world whose definitions can be changed while it runs: as older or newer ones are, by what they know. */
class Changing {
  readonly world: World;
  readonly #definitions: Definition[];

  constructor(options: WorldOptions = {}) {
    this.#definitions = KINDS.map((kind) => structuredClone<Definition>(crdOf(kind)));
    this.world = new World({ ...options, kinds: this.#definitions.map((one) => customKind(one)) });
  }

  /** The fields of status that the definition of a kind knows. */
  status(kind: KindName): Record<string, Schema> {
    const found = this.#definitions.find(({ spec }) => spec.names.kind === kind);
    const status = found?.spec.versions[0]?.schema.openAPIV3Schema.properties?.['status'];
    if (status?.properties === undefined) throw new Error(`no status of ${kind}`);
    return status.properties;
  }

  /** Takes a field away, as in a definition that is older; answers how to bring it. */
  without(kind: KindName, field: string): () => void {
    const fields = this.status(kind);
    const schema = fields[field];
    if (schema === undefined) throw new Error(`no status.${field} of ${kind}`);
    delete fields[field];
    return () => {
      fields[field] = schema;
    };
  }

  async settle(): Promise<void> {
    const { world } = this;
    world.start();
    await world.apply(`${CONNECTION}---\n${examples()}`);
    await world.until(() => world.ready('Instance', 'web-eu') === 'True');
    await world.until(() => world.ready('InstanceLease', 'evening') === 'True');
    await world.advance(60_000);
  }

  /** Service writes so far. */
  get sent(): number {
    return this.world.sandbox.admin.calls({}).filter(({ method }) => method !== 'GET').length;
  }

  /** Writes status by hand, as another version of the operator would. */
  async writeStatus(kind: KindName, name: string, status: object): Promise<void> {
    const ref = { namespace: NAMESPACE, name };
    await this.world.user.mergePatch(typeOfKind(kind), ref, { status }, { subresource: 'status' });
  }

  said(kind: KindName, name: string): string {
    const found = this.world.condition(kind, name, 'Ready');
    return `${found?.status} ${found?.reason}: ${found?.message}`;
  }
}

describe('definitions that are older than the operator', () => {
  it('and drop what must be noted before an operation: it is not sent until they are brought', async () => {
    const changing = new Changing();
    const { world } = changing;
    const bring = changing.without('Instance', 'currentOperation');
    await changing.settle();
    const before = changing.sent;
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('False NeedsUser'));
    expect(changing.said('Instance', 'web-eu')).toContain('drops status.currentOperation: nothing is sent');
    const version = Number(world.get('Instance', 'web-eu')?.metadata.resourceVersion);
    await world.advance(HOUR);
    expect(changing.sent).toBe(before);
    expect(Number(world.get('Instance', 'web-eu')?.metadata.resourceVersion)).toBe(version);

    bring();
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('True Settled'), 1_200_000);
    expect(changing.sent).toBe(before + 1);
    expect(world.get('Instance', 'web-eu')?.status).toMatchObject({
      handledRequests: { reinstall: '1' },
      lastOperation: { event: 'reinstall', outcome: 'Succeeded' },
    });
  });

  it('and know nothing of a PUT that has begun hold no change of a box back', async () => {
    const changing = new Changing();
    const { world } = changing;
    changing.without('Box', 'putBegun');
    await changing.settle();
    const before = changing.sent;
    await world.edit('Box', 'web', { driftPolicy: 'Report', description: 'changed' });
    await world.until(() => changing.sent > before, 60_000);
    await world.until(() => changing.said('Box', 'web').startsWith('True Settled'));
    const version = Number(world.get('Box', 'web')?.metadata.resourceVersion);
    await world.advance(HOUR);
    expect(changing.sent).toBe(before + 1);
    expect(Number(world.get('Box', 'web')?.metadata.resourceVersion)).toBe(version);
  });

  it('are looked at again at once when somebody asks', async () => {
    const changing = new Changing();
    const { world } = changing;
    const bring = changing.without('Instance', 'currentOperation');
    await changing.settle();
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('False NeedsUser'));
    bring();
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('True Settled'), 60_000);
    expect(world.get('Instance', 'web-eu')?.status).toMatchObject({ handledRequests: { reinstall: '1' } });
  });

  it('hold nobody once the resource that could not be noted is gone', async () => {
    const changing = new Changing();
    const { world } = changing;
    changing.without('Instance', 'currentOperation');
    await changing.settle();
    await world.apply(instance('', 'other'));
    await world.until(() => changing.said('Instance', 'other').startsWith('True Settled'));
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('False NeedsUser'));
    const before = changing.sent;
    await world.edit('Instance', 'other', { tags: ['later'] });
    await world.until(() => changing.said('Instance', 'other').startsWith('False NeedsUser'));
    expect(changing.sent).toBe(before);
    await world.edit('Instance', 'web-eu', { deletionPolicy: 'Orphan' });
    await world.delete('Instance', 'web-eu');
    await world.until(() => world.get('Instance', 'web-eu') === undefined);
    await world.annotate('Instance', 'other', { 'boxwright.dev/requested-at': 'now' });
    await world.until(() => changing.said('Instance', 'other').startsWith('True Settled'), 60_000);
    expect(changing.sent).toBe(before + 1);
  });

  it('are said, and keep everything from being sent, while the API server does not answer whether they are', async () => {
    const failing = { on: false, tried: 0 };
    const changing = new Changing({
      kubePort: (port) => ({
        watch: (request) => port.watch(request),
        request: (request) => {
          if (!failing.on || request.query?.['dryRun'] === undefined) return port.request(request);
          failing.tried += 1;
          return Promise.resolve({ status: 500, headers: {}, body: { kind: 'Status', code: 500 } });
        },
      }),
    });
    const { world } = changing;
    const bring = changing.without('Instance', 'currentOperation');
    await changing.settle();
    const before = changing.sent;
    failing.on = true;
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('False NeedsUser'));
    await world.annotate('Instance', 'web-eu', { 'boxwright.dev/requested-at': 'now' });
    await world.until(() => failing.tried > 0, 60_000);
    await world.edit('Instance', 'web-eu', { tags: ['another'] });
    const { generation } = world.get('Instance', 'web-eu')?.metadata ?? {};
    await world.until(
      () => world.get('Instance', 'web-eu')?.status?.observedGeneration === generation,
      60_000,
    );
    await world.advance(60_000);
    expect(changing.said('Instance', 'web-eu')).toMatch(/^False NeedsUser.*drops status.currentOperation/);
    expect(changing.sent).toBe(before);
    bring();
    failing.on = false;
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('True Settled'), 120_000);
    expect(changing.sent).toBe(before + 2);
  });

  it('and drop what a record was made from: it is not put there over and over', async () => {
    const changing = new Changing();
    const { world } = changing;
    changing.without('Box', 'draftHash');
    world.start();
    await world.apply(`${CONNECTION}---\n${examples()}`);
    await world.until(() => changing.said('Box', 'runtime').startsWith('False NeedsUser'));
    const before = changing.sent;
    await world.advance(HOUR);
    expect(changing.sent).toBe(before);
  });

  it('and drop what only shows: all works, and nothing is written over and over', async () => {
    const changing = new Changing();
    const { world } = changing;
    for (const field of ['uri', 'stack']) changing.without('Box', field);
    for (const field of ['phase', 'machines', 'address']) changing.without('Instance', field);
    await changing.settle();
    const before = changing.sent;
    await world.advance(HOUR);
    expect(changing.sent).toBe(before);
    await world.edit('Box', 'web', { description: 'Another' });
    await world.until(() => changing.sent === before + 1);
    await world.until(() => changing.said('Box', 'web').startsWith('True Settled'));
  });
});

describe('what a newer version has written', () => {
  it('in status fields that are not known here is kept, and sends nothing', async () => {
    const changing = new Changing();
    const { world } = changing;
    const wide: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    for (const kind of ['Box', 'Instance'] as const) changing.status(kind)['nextNote'] = wide;
    await changing.settle();
    const before = changing.sent;
    await changing.writeStatus('Instance', 'web-eu', { nextNote: { of: 'the newer one' } });
    await changing.writeStatus('Box', 'web', { nextNote: { of: 'the newer one' } });
    await world.stop();
    world.start();
    await world.advance(HOUR);
    expect(changing.sent).toBe(before);
    await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await world.until(() => world.get('Instance', 'web-eu')?.status?.['phase'] === 'ShutDown');
    expect(world.get('Instance', 'web-eu')?.status).toMatchObject({ nextNote: { of: 'the newer one' } });
    expect(world.get('Box', 'web')?.status).toMatchObject({ nextNote: { of: 'the newer one' } });
  });

  it('as a word of what only shows is written anew from the record', async () => {
    const changing = new Changing();
    const { world } = changing;
    await changing.settle();
    const before = changing.sent;
    delete changing.status('Instance')['phase']?.enum;
    await world.stop();
    await changing.writeStatus('Instance', 'web-eu', { phase: 'Hibernating' });
    world.start();
    await world.until(() => world.get('Instance', 'web-eu')?.status?.['phase'] === 'Online');
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('True Settled'));
    expect(changing.sent).toBe(before);
  });

  it('as a word of what decides keeps everything as it is, deletion included, and says who can go on', async () => {
    const changing = new Changing();
    const { world } = changing;
    await changing.settle();
    const before = changing.sent;
    const outcome = changing.status('Instance')['lastOperation']?.properties?.['outcome'];
    delete outcome?.enum;
    await world.stop();
    await changing.writeStatus('Instance', 'web-eu', { lastOperation: { outcome: 'Skipped' } });
    world.start();
    await world.until(() => changing.said('Instance', 'web-eu').startsWith('False NeedsUser'));
    expect(changing.said('Instance', 'web-eu')).toContain(
      'status.lastOperation.outcome is "Skipped", which is not known to this version of the operator',
    );
    await world.edit('Instance', 'web-eu', { powerState: 'Stopped' });
    await world.delete('Instance', 'web-eu');
    await world.advance(HOUR);
    expect(changing.sent).toBe(before);
    expect(world.get('Instance', 'web-eu')?.metadata.finalizers).toEqual(['boxwright.dev/finalizer']);
  });

  it('as a claim that says more than this version knows holds the record and the resource', async () => {
    const changing = new Changing();
    const { world } = changing;
    await changing.settle();
    const before = changing.sent;
    const claim = world.get('Box', 'web')?.metadata.annotations?.['boxwright.dev/claim'] ?? '';
    await world.annotate('Box', 'web', { 'boxwright.dev/claim': `${claim}/more` });
    await world.until(() => changing.said('Box', 'web').startsWith('False Conflict'));
    expect(changing.said('Box', 'web')).toContain('run the version that wrote it');
    await world.edit('Box', 'web', { description: 'must not be sent' });
    await world.delete('Instance', 'web-eu');
    await world.until(() => world.get('Instance', 'web-eu') === undefined);
    const after = changing.sent;
    expect(after).toBeGreaterThan(before);
    await world.delete('Box', 'web');
    await world.advance(HOUR);
    expect(changing.sent).toBe(after);
    expect(world.get('Box', 'web')?.metadata.finalizers).toEqual(['boxwright.dev/finalizer']);
    // The version that wrote it comes back.
    await world.annotate('Box', 'web', { 'boxwright.dev/claim': claim });
    await world.until(() => world.get('Box', 'web') === undefined);
  });

  it('in a create-intent beyond what is known here is no reason to create twice', async () => {
    const changing = new Changing();
    const { world } = changing;
    await changing.settle();
    await world.stop();
    const intent = JSON.stringify({ at: '2026-01-01T00:00:00Z', try: 1, skip: [], plan: { of: 'newer' } });
    const record = world.sandbox.admin.records('boxes').length;
    await world.annotate('Box', 'runtime', {
      'boxwright.dev/create-intent': intent,
      'boxwright.dev/external-id': null,
      'boxwright.dev/claim': null,
    });
    world.start();
    await world.advance(HOUR);
    expect(world.sandbox.admin.records('boxes')).toHaveLength(record);
    expect(changing.said('Box', 'runtime')).toMatch(/^True Settled/);
  });

  it('that drops the earlier records lets go of none, and nothing is made in its place before it knows them', async () => {
    const changing = new Changing();
    const { world } = changing;
    await changing.settle();
    await world.edit('Instance', 'web-eu', { onMissing: 'Recreate' });
    await world.advance(5 * 60_000);
    const bring = changing.without('Instance', 'former');
    const id = world.get('Instance', 'web-eu')?.status?.id ?? '';
    world.sandbox.admin.removeRecord('instances', id);
    const before = changing.sent;
    await world.until(() => changing.said('Instance', 'web-eu').includes('status.former'), HOUR);
    await world.advance(HOUR);
    expect(world.get('Instance', 'web-eu')?.status?.id).toBe(id);
    expect(changing.sent).toBe(before);
    bring();
    await world.until(() => ![undefined, id].includes(world.get('Instance', 'web-eu')?.status?.id), HOUR);
    expect(world.get('Instance', 'web-eu')?.status).toMatchObject({ former: [{ id }] });
    world.kill();
  });
});
