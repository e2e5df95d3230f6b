import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { BOX_AND_POLICY, instance, RealWorld } from '../support/real-world.ts';

interface BoxRecord {
  id: string;
  name: string;
  updated: string;
  description: string;
}

function box(name: string, spec = ''): string {
  return `
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}}
spec: {connectionRef: {name: main}, description: As declared${spec === '' ? '' : `, ${spec}`}}
`;
}

describe('a record that somebody changes by hand', () => {
  let world: RealWorld;
  beforeAll(async () => {
    await installKinds(testCluster());
    world = await RealWorld.start({ poll: { settled: '1s' } });
    await world.put(world.connection() + '---' + BOX_AND_POLICY);
    await world.ready('Box', 'plain');
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const record = (name: string): BoxRecord => {
    const boxes = world.sandbox.admin.records('boxes') as BoxRecord[];
    const found = boxes.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no box ${name} among ${boxes.map((each) => each.name).join()}`);
    return found;
  };
  const describeByHand = (name: string, description: string): void => {
    world.sandbox.admin.editRecord('boxes', record(name).id, { description });
  };
  const descriptionOf = (name: string): string => record(name).description;

  it('is changed back with Correct', async () => {
    await world.put(box('correct'));
    await world.ready('Box', 'correct');
    describeByHand('correct', 'By hand');
    await eventually('it is as declared again', () => descriptionOf('correct') === 'As declared');
    const shown = await world.ready('Box', 'correct');
    expect(shown.status?.drift).toBeUndefined();
  });

  it('is left and reported with Report', async () => {
    await world.put(box('report', 'driftPolicy: Report'));
    await world.ready('Box', 'report');
    describeByHand('report', 'By hand');
    const drifted = await world.condition('Box', 'report', { type: 'Drifted', status: 'True' });
    expect(drifted.message).toContain('description');
    const shown = await world.ready('Box', 'report');
    expect(shown.status?.drift).toEqual([{ field: 'description', want: 'As declared', have: 'By hand' }]);
    expect(descriptionOf('report')).toBe('By hand');
    describeByHand('report', 'As declared');
    await eventually('the condition goes', async () => {
      const { status } = await world.ready('Box', 'report');
      return status?.drift === undefined && !status?.conditions?.some(({ type }) => type === 'Drifted');
    });
  });

  it('is left without a word with Ignore, until the declaration changes', async () => {
    await world.put(box('ignore', 'driftPolicy: Ignore'));
    await world.ready('Box', 'ignore');
    describeByHand('ignore', 'By hand');
    await world.annotate('Box', 'ignore', { 'boxwright.dev/requested-at': 'now' });
    await eventually(
      'it was looked at',
      async () => (await world.get('Box', 'ignore'))?.status?.lastHandledRequest === 'now',
    );
    expect(descriptionOf('ignore')).toBe('By hand');
    await world.edit('Box', 'ignore', { description: 'Declared anew' });
    await world.ready('Box', 'ignore');
    expect(descriptionOf('ignore')).toBe('Declared anew');
  });

  it('is left alone while paused, and a change waits', async () => {
    await world.put(box('paused'));
    await world.ready('Box', 'paused');
    await world.annotate('Box', 'paused', { 'boxwright.dev/paused': 'true' });
    await world.edit('Box', 'paused', { description: 'While paused' });
    const said = await world.condition('Box', 'paused', { status: 'False', reason: 'Paused' });
    expect(said.message).toMatch(/change that waits/);
    expect(descriptionOf('paused')).toBe('As declared');
    await world.annotate('Box', 'paused', { 'boxwright.dev/paused': null });
    await world.ready('Box', 'paused');
    expect(descriptionOf('paused')).toBe('While paused');
  });

  it('is adopted, or just observed, when that is asked for', async () => {
    await world.put(box('first'));
    await world.ready('Box', 'first');
    const { id } = record('first');
    await world.edit('Box', 'first', { deletionPolicy: 'Orphan' });
    await world.ready('Box', 'first');
    await world.delete('Box', 'first');
    await world.gone('Box', 'first');
    expect(record('first').id).toBe(id);

    const adopting = (name: string, spec: string): string =>
      box(name, spec).replace(
        `{name: ${name}}`,
        `{name: ${name}, annotations: {boxwright.dev/adopt: ${id}}}`,
      );
    await world.put(adopting('watcher', 'managementPolicy: Observe'));
    const observed = await world.ready('Box', 'watcher');
    expect(observed.status?.id).toBe(id);
    expect(record('first').name).toBe('first');
    await world.delete('Box', 'watcher');
    await world.gone('Box', 'watcher');
    expect(record('first').id).toBe(id);

    await world.put(adopting('heir', 'name: heir'));
    const heir = await world.ready('Box', 'heir');
    expect(heir.status?.id).toBe(id);
    expect(record('heir').id).toBe(id);
  });

  it('is waited for, never made, when the record to adopt is not there', async () => {
    const before = world.sandbox.admin.records('boxes').length;
    await world.put(
      box('lost').replace(
        '{name: lost}',
        '{name: lost, annotations: {boxwright.dev/adopt: 11111111-1111-4111-8111-111111111111}}',
      ),
    );
    const said = await world.condition('Box', 'lost', { reason: 'WaitingForReference' });
    expect(said.message).toMatch(/11111111-1111.*not visible.*Nothing is created instead/);
    expect(world.sandbox.admin.records('boxes')).toHaveLength(before);
  });

  it('is made again with Recreate and held with Hold when it was deleted', { timeout: 90_000 }, async () => {
    await world.put(box('again') + box('held', 'onMissing: Hold') + '---' + instance('gone'));
    await Promise.all([
      world.ready('Box', 'again'),
      world.ready('Box', 'held'),
      world.ready('Instance', 'gone'),
    ]);
    const { id } = record('again');
    const instanceId = (await world.get('Instance', 'gone'))?.status?.id ?? '';
    world.sandbox.admin.removeRecord('boxes', id);
    world.sandbox.admin.removeRecord('boxes', record('held').id);
    world.sandbox.admin.removeRecord('instances', instanceId);

    await eventually(
      'the box is made again',
      () =>
        (world.sandbox.admin.records('boxes') as BoxRecord[]).some(
          (each) => each.name === 'again' && each.id !== id,
        ),
      { timeoutMs: 40_000 },
    );
    await world.ready('Box', 'again');
    const held = await world.condition('Box', 'held', { reason: 'RecordMissing' });
    expect(held.message).toMatch(/set onMissing to Recreate/);
    await world.condition('Instance', 'gone', { reason: 'RecordMissing' });
    expect(world.sandbox.admin.records('instances')).toEqual([]);
    await world.edit('Instance', 'gone', { onMissing: 'Recreate' });
    await world.ready('Instance', 'gone', 60_000);
    expect(world.sandbox.admin.records('instances')).toHaveLength(1);
  });
});
