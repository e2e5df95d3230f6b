import { beforeEach, describe, expect, it } from 'vitest';
import { CONNECTION, World } from '../support/world.ts';

interface BoxDoc {
  id: string;
  name: string;
  description?: string;
  variables: { name: string; type: string; value?: string }[];
  /** What only some types of box have. */
  fields: { events: Record<string, { url: string; destination_path?: string }>; requirements: string[] };
}

const box = (name: string, spec: string): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}}
spec:
  connectionRef: {name: main}
${spec}
`;

describe('a box', () => {
  let world: World;

  beforeEach(async () => {
    world = new World();
    world.start();
    await world.apply(CONNECTION);
    await world.until(() => world.ready('Connection', 'main') === 'True');
  });

  const ready = (name = 'web'): string =>
    `${world.ready('Box', name)} ${world.condition('Box', name, 'Ready')?.reason}`;
  const boxes = (): BoxDoc[] => world.sandbox.admin.records('boxes') as unknown as BoxDoc[];
  const record = (name = 'web'): BoxDoc => {
    const found = boxes().find((other) => other.name === name);
    if (found === undefined)
      throw new Error(
        `no box ${name} among ${boxes()
          .map((b) => b.name)
          .join()}`,
      );
    return found;
  };
  const settled = (name = 'web'): Promise<void> => world.until(() => ready(name) === 'True Settled');
  const calls = (method: string, route: string): number =>
    world.sandbox.admin.calls({}).filter((call) => call.method === method && call.route === route).length;

  it('gets its name, variables and scripts, and uploads a script only when it changed', async () => {
    const upload = 'POST';
    const route = '/services/blobs/upload/{file_name}';
    await world.apply(
      box(
        'web',
        '  description: Front\n  requirements: [Linux]\n  events: {install: {inline: "echo one", destinationPath: /opt}}',
      ),
    );
    await settled();
    expect(record()).toMatchObject({ description: 'Front', fields: { requirements: ['Linux'] } });
    expect(record().fields.events['install']).toMatchObject({ destination_path: '/opt' });
    expect(calls(upload, route)).toBe(1);
    await world.edit('Box', 'web', { description: 'Back' });
    await world.until(() => record().description === 'Back');
    expect(calls(upload, route)).toBe(1);
    await world.edit('Box', 'web', { events: { install: { inline: 'echo two', destinationPath: '/opt' } } });
    await world.until(() => calls(upload, route) === 2 && ready() === 'True Settled');
  });

  it('keeps variables that others added and takes away those that it put there', async () => {
    await world.apply(
      box('web', '  variables: [{name: A, type: Text, value: a}, {name: B, type: Text, value: b}]'),
    );
    await settled();
    const { id, variables } = record();
    world.sandbox.admin.editRecord('boxes', id, {
      variables: [...variables, { name: 'THEIRS', type: 'Text', value: 'x' }],
    });
    await world.edit('Box', 'web', { variables: [{ name: 'A', type: 'Text', value: 'a2' }] });
    await world.until(
      () => record().variables.some(({ value }) => value === 'a2') && ready() === 'True Settled',
    );
    expect(
      record()
        .variables.map(({ name }) => name)
        .toSorted(),
    ).toEqual(['A', 'THEIRS']);
  });

  it('waits for the box that it nests, and holds that box until it is gone itself', async () => {
    await world.apply(box('outer', '  variables: [{name: inner, type: Box, boxRef: {name: inner}}]'));
    await world.until(() => ready('outer') === 'False WaitingForReference');
    await world.apply(box('inner', ''));
    await settled('outer');
    expect(record('outer').variables).toMatchObject([{ type: 'Box', value: record('inner').id }]);
    await world.delete('Box', 'inner');
    await world.until(() => world.condition('Box', 'inner', 'Ready')?.reason === 'InUse');
    expect(world.condition('Box', 'inner', 'Ready')?.message).toContain('Box/outer');
    await world.delete('Box', 'outer');
    await world.until(() => world.get('Box', 'inner') === undefined);
    expect(boxes()).toEqual([]);
  });

  it('is held by those of its namespace that name it by its id, and by nobody elsewhere', async () => {
    await world.apply(box('inner', ''));
    await settled('inner');
    await world.apply(
      box('outer', `  variables: [{name: inner, type: Box, boxId: ${record('inner').id}}]`).replace(
        '{name: outer}',
        '{name: outer, namespace: default}',
      ),
    );
    await world.apply(box('near', `  variables: [{name: inner, type: Box, boxId: ${record('inner').id}}]`));
    await settled('near');
    await world.delete('Box', 'inner');
    await world.until(() => world.condition('Box', 'inner', 'Ready')?.reason === 'InUse');
    const message = world.condition('Box', 'inner', 'Ready')?.message;
    expect(message).toMatch(/^Used by Box\/near: /);
    await world.delete('Box', 'near');
    await world.until(() => world.get('Box', 'inner') === undefined, 60_000);
    const told = world.events.filter(({ note }) => note.includes('Resources of other namespaces'));
    expect(told).toMatchObject([{ regarding: { name: 'inner' } }]);
    expect(told[0]?.note).not.toContain('outer');
  });

  it('names the way round when boxes contain each other by id, and all of them can be deleted', async () => {
    await world.apply(box('a', '  variables: []'));
    await settled('a');
    const { id } = record('a');
    await world.apply(box('b', `  variables: [{name: x, type: Box, boxId: ${id}}]`));
    await settled('b');
    await world.edit('Box', 'a', { variables: [{ name: 'x', type: 'Box', boxRef: { name: 'b' } }] });
    await world.until(() => ready('a') === 'False NeedsUser');
    expect(world.condition('Box', 'a', 'Ready')?.message).toContain('a → b → a');
    expect(record('a').variables).toEqual([]);
    await world.delete('Box', 'a');
    await world.until(() => world.condition('Box', 'a', 'Ready')?.reason === 'InUse');
    await world.delete('Box', 'b');
    await world.until(() => world.get('Box', 'a') === undefined && world.get('Box', 'b') === undefined);
    expect(boxes()).toEqual([]);
  });

  it('names the way round when boxes contain each other', async () => {
    await world.apply(box('a', '  variables: [{name: x, type: Box, boxRef: {name: b}}]'));
    await world.apply(box('b', '  variables: [{name: x, type: Box, boxRef: {name: a}}]'));
    await world.until(() => ready('a') === 'False NeedsUser' && ready('b') === 'False NeedsUser');
    expect(world.condition('Box', 'a', 'Ready')?.message).toContain('a → b → a');
    expect(boxes()).toEqual([]);
  });

  it('does not take a name that somebody else has, and adopts that record when told to', async () => {
    await world.apply(box('web', ''));
    await settled();
    const { id } = record();
    await world.edit('Box', 'web', { deletionPolicy: 'Orphan' });
    await world.delete('Box', 'web');
    await world.until(() => world.get('Box', 'web') === undefined);
    await world.advance(31_000); // the list that names are looked up in is shared for 30 s
    await world.apply(box('other', '  name: web\n  description: Adopted'));
    await world.until(() => ready('other') === 'False NameTaken');
    expect(boxes()).toHaveLength(1);
    await world.annotate('Box', 'other', { 'boxwright.dev/adopt': id });
    await settled('other');
    expect(boxes()).toMatchObject([{ id, description: 'Adopted' }]);
  });

  it('only reads with Observe, and lets go without a call', async () => {
    await world.apply(box('web', '  deletionPolicy: Orphan'));
    await settled();
    const { id } = record();
    await world.delete('Box', 'web');
    await world.until(() => world.get('Box', 'web') === undefined);
    await world.apply(
      box('seen', '  managementPolicy: Observe\n  description: never sent').replace(
        '{name: seen}',
        `{name: seen, annotations: {boxwright.dev/adopt: ${id}}}`,
      ),
    );
    await world.until(() => ready('seen') === 'True Observed');
    await world.advance(3_600_000);
    expect(record()).toMatchObject({ id, description: '' });
    await world.delete('Box', 'seen');
    await world.until(() => world.get('Box', 'seen') === undefined);
    expect(boxes()).toHaveLength(1);
  });

  it('is made again when its record was deleted by hand, and holds with Hold', async () => {
    await world.apply(box('web', '  variables: [{name: A, type: Text, value: a}]'));
    await settled();
    const first = record().id;
    world.sandbox.admin.removeRecord('boxes', first);
    await world.until(
      () => boxes().some(({ id, name }) => id !== first && name === 'web') && ready() === 'True Settled',
      3_600_000,
    );
    await world.edit('Box', 'web', { onMissing: 'Hold' });
    world.sandbox.admin.removeRecord('boxes', record().id);
    await world.until(() => ready() === 'False RecordMissing', 3_600_000);
    expect(boxes()).toEqual([]);
  });

  it('follows a Secret and a ConfigMap that it takes contents from', async () => {
    await world.apply(`
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: first-password}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: files}
data: {web.conf: one}
`);
    await world.apply(
      box(
        'web',
        `  variables:
    - {name: PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}
    - {name: CONF, type: File, file: {configMapKeyRef: {name: files, key: web.conf}}}`,
      ),
    );
    await settled();
    const url = record().variables.find(({ name }) => name === 'CONF')?.value;
    await world.apply('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: files}\ndata: {web.conf: two}');
    await world.until(() => record().variables.find(({ name }) => name === 'CONF')?.value !== url, 60_000);
    await world.apply(
      'apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: second-password}',
    );
    await world.until(() => JSON.stringify(boxes()).includes('second-password'), 400_000);
    expect(JSON.stringify(world.get('Box', 'web'))).not.toMatch(/first-password|second-password/);
    const puts = calls('PUT', '/services/boxes/{box_id}');
    await world.advance(3_600_000);
    expect(calls('PUT', '/services/boxes/{box_id}')).toBe(puts);
  });

  it('stops and names the fields when the same difference comes back again and again', async () => {
    await world.apply(box('web', '  description: Mine'));
    await settled();
    const { id } = record();
    const spoil = (): void => world.sandbox.admin.editRecord('boxes', id, { description: 'Theirs' });
    for (let round = 0; round < 3; round++) {
      spoil();
      await world.until(() => record().description === 'Mine', 3_600_000);
    }
    spoil();
    await world.until(() => ready() === 'False NotConverging', 3_600_000);
    expect(world.condition('Box', 'web', 'Ready')?.message).toContain('description');
  });
});

/** A policy box as the embedded service stores it. */
interface StoredPolicyBox {
  id: string;
  name: string;
  description?: string;
  fields: { lifespan?: { operation?: string; quantity?: number } };
}

const HOUR_MS = 3_600_000;

const manifest = `
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  providerId: 00000000-0000-4000-8000-000000000001
  claims: [Linux]
  lifespan: {operation: Terminate, after: 72h}
  profile: {schema: test/compute/profile, properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}}
`;

function stored(world: World): StoredPolicyBox | undefined {
  return (world.sandbox.admin.records('boxes') as unknown as StoredPolicyBox[]).find(
    ({ name }) => name === 'small',
  );
}

function lifespan(world: World): unknown {
  return stored(world)?.fields.lifespan?.operation;
}

function putsOf(world: World): number {
  return world.sandbox.admin.calls({}).filter(({ method }) => method === 'PUT').length;
}

/** Somebody sets a lifespan on the service. */
function byHand(world: World, hours = 2): void {
  const { id = '', fields } = stored(world) ?? {};
  world.sandbox.admin.editRecord('boxes', id, {
    fields: { ...fields, lifespan: { operation: 'terminate', interval: 'hours', quantity: hours } },
    updated: new Date(world.clock.now()).toISOString().replace('T', ' ').replace('Z', '000'),
  });
}

async function declared(boxPut: 'more' | 'interface', text = manifest): Promise<World> {
  const world = new World({ sandbox: { readings: { boxPut } } });
  world.start();
  await world.apply(CONNECTION);
  await world.apply(text);
  await world.until(() => world.ready('PolicyBox', 'small') === 'True');
  return world;
}

describe('a policy box', () => {
  it('waits until its provider is ready, and says so', async () => {
    const world = new World();
    world.sandbox.admin.editRecord('providers', '00000000-0000-4000-8000-000000000001', {
      state: 'unavailable',
    });
    world.start();
    await world.apply(CONNECTION);
    await world.apply(manifest);
    await world.until(() => world.condition('PolicyBox', 'small', 'Ready')?.reason === 'WaitingForReference');
    expect(world.condition('PolicyBox', 'small', 'Ready')?.message).toContain('unavailable');
    world.sandbox.admin.editRecord('providers', '00000000-0000-4000-8000-000000000001', { state: 'ready' });
    await world.until(() => world.ready('PolicyBox', 'small') === 'True');
  });

  it('says which fields the service kept, tries no second time, and is content when they are put back', async () => {
    const world = new World({ sandbox: { readings: { boxPut: 'interface' } } });
    world.start();
    await world.apply(CONNECTION);
    await world.apply(manifest);
    await world.until(() => world.ready('PolicyBox', 'small') === 'True');
    await world.edit('PolicyBox', 'small', { claims: ['Linux', 'Windows'] });
    await world.until(() => world.condition('PolicyBox', 'small', 'Stalled')?.reason === 'NotApplied');
    expect(world.condition('PolicyBox', 'small', 'Ready')?.message).toContain('claims');
    const puts = (): number => world.sandbox.admin.calls({}).filter(({ method }) => method === 'PUT').length;
    const before = puts();
    await world.advance(3 * 3_600_000);
    expect(puts()).toBe(before);
    await world.edit('PolicyBox', 'small', { claims: ['Linux'] });
    await world.until(() => world.ready('PolicyBox', 'small') === 'True');
  });

  describe('with a lifespan', () => {
    const without = manifest.replace(/ {2}lifespan:.*\n/, '');
    it('of operation None has the one on the service taken off, once', async () => {
      const world = await declared('more');
      expect(lifespan(world)).toBe('terminate');
      const before = putsOf(world);
      await world.edit('PolicyBox', 'small', { lifespan: { operation: 'None', after: null } });
      await world.until(() => lifespan(world) === 'none');
      await world.until(() => world.ready('PolicyBox', 'small') === 'True');
      await world.advance(3 * HOUR_MS);
      expect(putsOf(world)).toBe(before + 1);
      byHand(world);
      await world.until(() => lifespan(world) === 'none', HOUR_MS);
      await world.edit('PolicyBox', 'small', { lifespan: { operation: 'Terminate', after: '5h' } });
      await world.until(() => lifespan(world) === 'terminate');
    });

    it('of operation None says so where the service keeps the old one, and tries no second time', async () => {
      const world = await declared('interface');
      await world.edit('PolicyBox', 'small', { lifespan: { operation: 'None', after: null } });
      await world.until(() => world.condition('PolicyBox', 'small', 'Stalled')?.reason === 'NotApplied');
      expect(world.condition('PolicyBox', 'small', 'Ready')?.message).toContain('lifespan');
      const before = putsOf(world);
      await world.stop();
      world.start();
      await world.advance(3 * HOUR_MS);
      expect(putsOf(world)).toBe(before);
      expect(world.condition('PolicyBox', 'small', 'Ready')?.reason).toBe('NotApplied');
    });

    it.each(['more', 'interface'] as const)(
      'that is declared no more leaves what is there, and what somebody sets later: PUT %s',
      async (boxPut) => {
        const world = await declared(boxPut);
        await world.edit('PolicyBox', 'small', { lifespan: null });
        await world.advance(HOUR_MS);
        expect(world.ready('PolicyBox', 'small')).toBe('True');
        expect(lifespan(world)).toBe('terminate');
        for (const hours of [2, 3]) {
          byHand(world, hours);
          const before = putsOf(world);
          await world.advance(2 * HOUR_MS);
          expect(putsOf(world)).toBe(before);
          expect(stored(world)?.fields.lifespan?.quantity).toBe(hours);
        }
      },
    );

    it.each(['more', 'interface'] as const)(
      'that was set on the service stays when something else is edited: PUT %s',
      async (boxPut) => {
        const world = await declared(boxPut, without);
        await world.advance(HOUR_MS);
        byHand(world);
        await world.advance(HOUR_MS);
        for (const description of ['One', 'Another']) {
          await world.edit('PolicyBox', 'small', { description });
          await world.advance(HOUR_MS);
          expect(world.ready('PolicyBox', 'small')).toBe('True');
          expect(stored(world)).toMatchObject({ description, fields: { lifespan: { quantity: 2 } } });
        }
      },
    );

    it.each([
      ['more', 'Correct'],
      ['interface', 'Correct'],
      ['interface', 'Report'],
    ] as const)(
      'that an adopted record has stays, undeclared: PUT %s, driftPolicy %s',
      async (boxPut, drift) => {
        const world = await declared(boxPut, without.replace('spec:', 'spec:\n  deletionPolicy: Orphan'));
        byHand(world);
        const { id = '' } = stored(world) ?? {};
        await world.delete('PolicyBox', 'small');
        await world.until(() => world.get('PolicyBox', 'small') === undefined, HOUR_MS);
        await world.apply(
          without
            .replace('{name: small}', `{name: small, annotations: {boxwright.dev/adopt: ${id}}}`)
            .replace('spec:', `spec:\n  driftPolicy: ${drift}`),
        );
        await world.until(() => world.ready('PolicyBox', 'small') === 'True', HOUR_MS);
        await world.advance(HOUR_MS);
        expect(world.ready('PolicyBox', 'small')).toBe('True');
        expect(world.get('PolicyBox', 'small')?.['status']).not.toHaveProperty('drift');
        expect(stored(world)?.fields.lifespan?.quantity).toBe(2);
      },
    );
  });
});
