import { expect, test } from 'vitest';
import { ok, startFixture, type Fixture } from '../fixture.ts';

/** A box that nests the box `id` 25 times. */
const many = (id: string): object => ({
  variables: Array.from({ length: 25 }, (_, n) => ({ name: `n${n}`, type: 'Box', value: id })),
});

/** A chain of boxes, each nesting the one before it `width` times; the last one's answer. */
async function chain(
  { call, sandbox }: Fixture,
  levels: number,
  width: number,
): Promise<{ status: number; id: string; message: string }> {
  let id = '';
  for (let level = 0; ; level++) {
    const box = await ok(
      call('POST', '/services/boxes', {
        schema: `${sandbox.schemaBase}/boxes/script`,
        name: `level ${level}`,
        requirements: [],
      }),
    );
    const variables = Array.from({ length: id === '' ? 0 : width }, (_, n) => ({
      name: `inner${n}`,
      type: 'Box',
      value: id,
    }));
    const { status, body } = await call('PUT', box.uri, { variables });
    id = box.id;
    if (status !== 200 || level === levels) return { status, id, message: body.message ?? '' };
  }
}

// V15
test('boxes nested twice in every level are judged in no time, and refused when they are too many', async () => {
  const fixture = await startFixture();
  const start = performance.now();
  const { status, message } = await chain(fixture, 22, 2);
  expect(status).toBe(400);
  expect(message).toContain('more than 500 boxes');
  expect(performance.now() - start).toBeLessThan(3_000);
});

test('a chain has 32 levels at most, and a chain of that length is deployed whole', async () => {
  const fixture = await startFixture();
  expect((await chain(fixture, 33, 1)).message).toContain('nested deeper than 32 levels');
  const whole = await startFixture();
  const { status, id } = await chain(whole, 32, 1);
  expect(status).toBe(200);
  const { policy } = await whole.deployable();
  expect((await whole.deploy({ box: { id }, policy })).boxes).toHaveLength(33);
});

test('what grew too large by the update of a nested box is refused when it is deployed', async () => {
  const fixture = await startFixture();
  const { call, deployable, sandbox } = fixture;
  const { box: leaf } = await deployable();
  const { box: middle } = await deployable();
  const { box: outer, policy } = await deployable({}, many(middle.id));
  await ok(call('PUT', middle.uri, many(leaf.id)));
  const answer = await call('POST', '/services/instances', {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: outer.id },
    policy_box: { id: policy.id },
  });
  expect(answer.body.message).toContain('more than 500 boxes');
  expect((await call('GET', '/services/instances')).body).toEqual([]);
});

test('events on machines beyond what an operation can carry are refused', async () => {
  const { call, deployable, sandbox } = await startFixture();
  const base = sandbox.schemaBase;
  const names = ['pre_install', 'install', 'pre_configure', 'configure', 'pre_start', 'start'];
  const events = Object.fromEntries(names.map((name) => [name, 'exit 0']));
  const { box: inner } = await deployable(events);
  const variables = Array.from({ length: 4 }, (_, n) => ({ name: `n${n}`, type: 'Box', value: inner.id }));
  const { box, policy } = await deployable(
    {},
    { variables },
    {
      profile: { schema: `${base}/test/compute/profile`, flavor: 'test.micro', instances: 100 },
    },
  );
  const request = {
    schema: `${base}/deploy-instance-request`,
    box: { id: box.id },
    policy_box: { id: policy.id },
  };
  const answer = await call('POST', '/services/instances', request);
  expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('2400 scripts') } });
});

test('thousands of overrides and tags are judged in no time', async () => {
  const { call, deployable, deploy, clock, sandbox } = await startFixture();
  const names = Array.from({ length: 2_000 }, (_, n) => `V${n}`);
  const { box, policy } = await deployable(
    {},
    {
      variables: names.map((name) => ({ name, type: 'Binding', value: '', tags: ['none'], required: true })),
    },
  );
  const start = performance.now();
  const variables = names.map((name) => ({ name, tags: ['none', name] }));
  const instance = await deploy({ box, policy }, { box: { id: box.id, variables } });
  await clock.advance(10_000);
  await ok(call('PUT', instance.uri, { variables }));
  expect(performance.now() - start).toBeLessThan(3_000);
  const wrong = { tags: Array.from({ length: 101 }, () => 'x') };
  const tooMany = await call('POST', '/services/instances', {
    schema: `${sandbox.schemaBase}/deploy-instance-request`,
    box: { id: box.id, variables: [{ name: 'V0', ...wrong }] },
    policy_box: { id: policy.id },
  });
  expect(tooMany.status).toBe(400);
});
