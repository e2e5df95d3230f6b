import { expect, test } from 'vitest';
import { ok, startFixture } from '../fixture.ts';
import { follows } from './updates.ts';

const v = (major: number, minor: number, patch: number) => ({ major, minor, patch });

test.each([
  ['off', v(1, 0, 0), v(2, 0, 0), false],
  ['patch', v(1, 0, 0), v(1, 0, 1), true],
  ['patch', v(1, 0, 0), v(1, 1, 0), false],
  ['minor', v(1, 0, 0), v(1, 1, 0), true],
  ['minor', v(1, 0, 0), v(2, 0, 0), false],
  ['major', v(1, 0, 0), v(2, 0, 0), true],
  ['major', v(2, 0, 0), v(1, 9, 9), false],
  ['minor', undefined, v(1, 0, 0), false],
  ['major', undefined, v(1, 0, 0), true],
])('%s from %j to %j: %s', (level, from, to, expected) => {
  expect(follows(level, from, to)).toBe(expected);
});

test('an instance follows a published version of its box by a reinstall', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const boxes = await deployable({ install: 'echo 1' });
  const publish = (number: object) =>
    ok(call('PUT', boxes.box.uri, { ...boxes.box, version: { description: '', number } }));
  const first = await publish(v(1, 0, 0));
  const created = await deploy(boxes, { box: { id: first.id }, automatic_updates: 'minor' });
  expect(created).toMatchObject({ box: boxes.box.id, automatic_updates: 'minor' });
  await clock.advance(4000);
  await publish(v(2, 0, 0));
  expect((await call('GET', created.uri)).body.state).toBe('done');
  const second = await publish(v(1, 1, 0));
  expect((await call('GET', created.uri)).body).toMatchObject({
    state: 'processing',
    operation: { event: 'reinstall' },
    boxes: [{ id: second.id }],
  });
});

test('a Box variable follows the versions of the box that it names', async () => {
  const { call, deployable } = await startFixture();
  const inner = await deployable();
  const publish = (number: object) =>
    ok(call('PUT', inner.box.uri, { ...inner.box, version: { description: '', number } }));
  const first = await publish(v(1, 0, 0));
  const named = { type: 'Box', value: first.id, required: false, visibility: 'public' };
  const outer = await deployable(
    {},
    {
      variables: [
        { ...named, name: 'follows', automatic_updates: 'patch' },
        { ...named, name: 'stays', automatic_updates: 'off' },
      ],
    },
  );
  const second = await publish(v(1, 0, 1));
  const { variables } = await ok(call('GET', outer.box.uri));
  expect(variables.map((variable: { value: string }) => variable.value)).toEqual([second.id, first.id]);
});

test('a deleted box is marked where it is deployed', async () => {
  const { call, clock, deployable, deploy } = await startFixture();
  const boxes = await deployable();
  const created = await deploy(boxes);
  await clock.advance(4000);
  expect((await call('DELETE', `/services/box/${boxes.box.id}`)).status).toBe(204);
  expect((await call('GET', boxes.box.uri)).status).toBe(404);
  const seen = await ok(call('GET', created.uri));
  expect(seen.boxes[0].deleted).toMatch(/^\d{4}-/);
  expect(seen.policy_box.deleted).toBeNull();
});
