import { expect, test } from 'vitest';
import { ok, startFixture } from '../fixture.ts';

const variable = (name: string, value: string, type = 'Text'): object => ({
  name,
  type,
  value,
  required: false,
  visibility: 'public',
});

test('shows what differs: variables, files, details, events', async () => {
  const { call, deployable, upload } = await startFixture();
  const one = await upload('a.conf', '1');
  const two = await upload('a.conf', '2');
  const { box } = await deployable(
    { install: 'echo 1' },
    {
      variables: [variable('A', '1'), variable('B', '1'), variable('F', one.url, 'File')],
      description: 'old',
    },
  );
  const diff = await ok(
    call('PUT', `${box.uri}/diff`, {
      ...box,
      name: 'renamed',
      description: '',
      icon: '/icon.png',
      variables: [variable('A', '2'), variable('C', '1'), variable('F', two.url, 'File')],
      events: { start: one },
    }),
  );
  expect(diff).toMatchObject({
    changed: true,
    box_variables: {
      removed: [{ name: 'B' }],
      added: [{ name: 'C' }],
      changed: [
        { name: 'A', previous: { value: '1' }, new: { value: '2' } },
        { name: 'F', previous: { value: one.url }, new: { value: two.url } },
      ],
      files_diff: [{ name: 'F', previous: one.url, new: two.url }],
    },
    box_details: {
      changed: [{ name: 'Name', previous: box.name, new: 'renamed' }],
      removed: [{ name: 'Description', previous: 'old' }],
      added: [{ name: 'Icon', new: '/icon.png' }],
    },
    box_events: [
      { name: 'install', state: 'removed' },
      { name: 'start', state: 'added' },
    ],
  });
  expect(diff.box_profile_properties).toBeUndefined();
});

test('an equal box has not changed, and a policy box is compared by its profile too', async () => {
  const { call, deployable } = await startFixture();
  const { policy } = await deployable();
  expect(await ok(call('PUT', `${policy.uri}/diff`, policy))).toEqual({
    box_variables: { removed: [], added: [], changed: [], files_diff: [] },
    box_profile_properties: { title: 'Profile', removed: [], added: [], changed: [] },
    box_details: { removed: [], added: [], changed: [] },
    box_events: [],
    changed: false,
  });
  const profile = { ...policy.profile, flavor: 'test.small', keypair: 'k', instances: '' };
  const diff = await ok(call('PUT', `${policy.uri}/diff`, { ...policy, profile }));
  expect(diff.box_profile_properties).toMatchObject({
    changed: [{ name: 'flavor', previous: 'test.micro', new: 'test.small' }],
    added: [{ name: 'keypair', new: 'k' }],
    removed: [{ name: 'instances', previous: 1 }],
  });
});
