import { describe, expect, it } from 'vitest';
import { ANNOTATIONS, API_VERSION } from '../../../api/names.ts';
import { kindOf } from '../../../api/kinds.ts';
import type { Box } from '../../../api/box.ts';
import { silentLogger } from '../../../base/logger.ts';
import { KnownSecrets } from '../../../base/masking/known-secrets.ts';
import { VirtualClock } from '../../../base/virtual-clock.ts';
import { KubeClient, type ResourceType } from '../../../kube/index.ts';
import { FakeKube, ownKinds } from '../../../../test/support/fake-kube.ts';
import { verdict } from './verdict.ts';
import { StatusWriter } from './writer.ts';

const KIND = kindOf('Box');
const TYPE: ResourceType = {
  group: KIND.group,
  version: KIND.version,
  plural: KIND.plural,
  kind: 'Box',
  namespaced: true,
};
const SIGNAL = new AbortController().signal;
const REF = { namespace: 'shop', name: 'web' };
const SAID = verdict('Updating', 'The change is being put on the record');

/** One Box, its cache and its writer. */
class Bench {
  readonly clock = new VirtualClock();
  readonly kube = new FakeKube({
    clock: this.clock,
    kinds: ownKinds(),
    namespaces: ['shop'],
  });
  readonly client = new KubeClient(this.kube, { clock: this.clock, random: () => 0.5 });
  readonly notes: string[] = [];
  readonly secrets = new KnownSecrets();
  newest: Box | undefined;
  readonly writer = new StatusWriter<Box>(
    {
      clock: this.clock,
      kube: this.client,
      log: silentLogger,
      secrets: this.secrets,
      recorder: { event: ({ note }) => void this.notes.push(note) },
    },
    TYPE,
    {
      get: () => this.newest,
      remember: (raw) => void (this.newest = parse(raw)),
      isLiving: () => true,
    },
  );

  async make(): Promise<Box> {
    const spec = { connectionRef: { name: 'main' } };
    const body = { apiVersion: API_VERSION, kind: 'Box', metadata: { name: REF.name }, spec };
    const made = await this.kube.request({ method: 'POST', path: KIND.collectionPath(REF.namespace), body });
    this.newest = parse(made.body);
    return this.newest;
  }

  async annotate(token: string): Promise<Box> {
    const metadata = { annotations: { [ANNOTATIONS.requestedAt]: token } };
    this.newest = parse(await this.client.mergePatch(TYPE, REF, { metadata }));
    return this.newest;
  }
}

function parse(raw: unknown): Box {
  const parsed = KIND.parse(raw);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.resource as Box;
}

describe('a write of status', () => {
  it('echoes the request that the pass began with, not one that came in the middle of it', async () => {
    const bench = new Bench();
    await bench.make();
    const seen = await bench.annotate('first');
    await bench.annotate('second');
    await bench.writer.write(seen, { verdict: SAID, fields: {} }, SIGNAL);
    expect(bench.newest?.status.lastHandledRequest).toBe('first');
    const again = bench.newest;
    if (again === undefined) throw new Error('there is no Box');
    await bench.writer.write(again, { verdict: SAID, fields: {} }, SIGNAL);
    expect(bench.newest?.status.lastHandledRequest).toBe('second');
  });

  it('speaks for the generation that the pass began with', async () => {
    const bench = new Bench();
    const seen = await bench.make();
    const spec = { variables: [{ name: 'A', type: 'Text', value: 'a' }] };
    bench.newest = parse(await bench.client.mergePatch(TYPE, REF, { spec }));
    await bench.writer.write(seen, { verdict: verdict('Settled', 'As declared'), fields: {} }, SIGNAL);
    expect(bench.newest?.metadata.generation).toBe(2);
    expect(bench.newest?.status.observedGeneration).toBe(1);
  });

  it('is refused where somebody else has written meanwhile, and takes nothing of theirs away', async () => {
    const bench = new Bench();
    const seen = await bench.make();
    await bench.client.mergePatch(TYPE, REF, { status: { uri: '/theirs' } }, { subresource: 'status' });
    const wish = { verdict: SAID, fields: {} };
    await expect(bench.writer.write(seen, wish, SIGNAL)).rejects.toMatchObject({ status: 409 });
    expect(await bench.client.get(TYPE, REF)).toMatchObject({ status: { uri: '/theirs' } });
  });

  it('is not made where it says nothing new, nor for a resource that is gone or was made anew', async () => {
    const bench = new Bench();
    const seen = await bench.make();
    const wish = { verdict: SAID, fields: {} };
    await bench.writer.write(seen, wish, SIGNAL);
    const version = bench.newest?.metadata.resourceVersion;
    await bench.writer.write(bench.newest ?? seen, wish, SIGNAL);
    expect(bench.newest?.metadata.resourceVersion).toBe(version);
    bench.newest = undefined;
    await bench.writer.write(seen, { verdict: verdict('Settled', 'As declared'), fields: {} }, SIGNAL);
    expect(bench.newest).toBeUndefined();
  });

  it('tells an event when its reason changes', async () => {
    const bench = new Bench();
    const seen = await bench.make();
    const said = verdict('NameTaken', 'The name "web" is taken on the service');
    await bench.writer.write(seen, { verdict: said, fields: {} }, SIGNAL);
    expect(bench.notes).toEqual([expect.stringContaining('The name "web" is taken')]);
  });

  // S2, S13: one place through which everything goes that a person may read.
  it('shows no secret of its Connection, neither in status nor in the event, and hides no id', async () => {
    const bench = new Bench();
    const seen = await bench.make();
    bench.secrets.of('shop/main').note('c4n4ry-value/1');
    bench.secrets.of('shop/other').note('of-another-connection');
    const encoded = encodeURIComponent('c4n4ry-value/1');
    const said = verdict(
      'NotApplied',
      `variables.A.value (declared x, kept ${encoded}) of-another-connection`,
    );
    const fields = {
      id: 'c4n4ry-value/1',
      uri: '/services/boxes/c4n4ry-value/1',
      drift: [{ field: 'variables.c4n4ry-value/1', want: 'c4n4ry-value/1', have: 'x'.repeat(250) + encoded }],
    };
    await bench.writer.write(seen, { verdict: said, fields }, SIGNAL);
    const { status } = bench.newest ?? seen;
    const { id, ...shown } = status;
    // What decides is compared with the service's own word, and stays.
    expect(id).toBe('c4n4ry-value/1');
    expect(JSON.stringify([shown, bench.notes])).not.toMatch(/c4n4/);
    expect(shown).toMatchObject({
      uri: '/services/boxes/****',
      drift: [{ field: 'variables.****', want: '****' }],
      conditions: [{ message: 'variables.A.value (declared x, kept ****) of-another-connection' }, {}],
    });
    const version = bench.newest?.metadata.resourceVersion;
    await bench.writer.write(bench.newest ?? seen, { verdict: said, fields }, SIGNAL);
    expect(bench.newest?.metadata.resourceVersion).toBe(version);
  });
});
