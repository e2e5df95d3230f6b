import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KindName } from '../../../src/api/kinds.ts';
import { ANNOTATIONS } from '../../../src/api/names.ts';
import { markerOf } from '../../../src/controllers/record/identity/marker.ts';
import { CONNECTION, typeOfKind, type Shown } from '../../support/world.ts';
import { answer, instance, MINUTE, Shop } from '../shop.ts';

/** The namespace of the author who guesses, over an account that sees nothing of the victim's. */
const OTHERS = 'default';
/** What nobody has: of the form of an id. */
const NOTHING = '00000000-aaaa-4000-8000-000000000000';

let shop: Shop;
beforeEach(async () => {
  const guest = { email: 'guest@example.com', password: 'guest-password', token: 'token-of-guest' };
  shop = await Shop.open({ sandbox: { accounts: [guest] } });
  // What some builds say of a record that the account may not see is the service's own word to its account.
  shop.spoil = (_request, given) => (given.status === 403 ? answer(404, { message: 'Not found' }) : given);
  await shop.world.apply(instance());
  await shop.online();
  await shop.world.apply(
    CONNECTION.replace('token-of-ops', 'token-of-guest').replaceAll(
      'metadata: {',
      `metadata: {namespace: ${OTHERS}, `,
    ),
  );
  await shop.world.advance(MINUTE);
});
afterEach(() => shop.close());

const idOf = (kind: KindName, name: string): string => shop.world.get(kind, name)?.status?.id ?? '';
/** What was let go of under a name is looked for under it for a while: each guess has one of its own. */
const nameFor = (id: string): string => (id === NOTHING ? 'guess-1' : 'guess-2');
const head = (kind: string, id: string, annotations: object = {}): string => `
apiVersion: boxwright.dev/v1alpha1
kind: ${kind}
metadata: {namespace: ${OTHERS}, name: ${nameFor(id)}, annotations: ${JSON.stringify(annotations)}}
`;
const POLICY = `spec:
  connectionRef: {name: main}
  providerId: p
  profile: {schema: test/compute/profile}
`;
const INSTANCE = 'spec: {connectionRef: {name: main}, boxId: b, policyBoxId: p}\n';
const claim = (kind: KindName, id: string): object => {
  const marker = markerOf(shop.world.installationId, { kind, namespace: OTHERS, name: nameFor(id) });
  return {
    [ANNOTATIONS.externalId]: id,
    [ANNOTATIONS.claim]: `${shop.world.installationId}/${marker}/some-uid`,
  };
};

/** Ways to have the operator look at an id, by the kind of the record that has it. */
const WAYS: [string, KindName, KindName, (id: string) => string][] = [
  [
    'adopts a box',
    'Box',
    'Box',
    (id) => `${head('Box', id, { [ANNOTATIONS.adopt]: id })}spec: {connectionRef: {name: main}}`,
  ],
  [
    'adopts a policy box',
    'PolicyBox',
    'PolicyBox',
    (id) => head('PolicyBox', id, { [ANNOTATIONS.adopt]: id }) + POLICY,
  ],
  [
    'adopts an instance',
    'Instance',
    'Instance',
    (id) => head('Instance', id, { [ANNOTATIONS.adopt]: id }) + INSTANCE,
  ],
  [
    'claims a box',
    'Box',
    'Box',
    (id) => `${head('Box', id, claim('Box', id))}spec: {connectionRef: {name: main}}`,
  ],
  [
    'claims an instance',
    'Instance',
    'Instance',
    (id) => head('Instance', id, claim('Instance', id)) + INSTANCE,
  ],
  [
    'names a box by boxId',
    'Instance',
    'Box',
    (id) => head('Instance', id) + INSTANCE.replace('boxId: b', `boxId: ${id}`),
  ],
  [
    'names a policy box',
    'Instance',
    'PolicyBox',
    (id) => head('Instance', id) + INSTANCE.replace('policyBoxId: p', `policyBoxId: ${id}`),
  ],
  [
    'nests a box',
    'Box',
    'Box',
    (id) =>
      `${head('Box', id)}spec: {connectionRef: {name: main}, variables: [{name: NEXT, type: Box, boxId: ${id}}]}`,
  ],
];
const NAMES = { Box: 'web', PolicyBox: 'small', Instance: 'web-eu' } as Readonly<Record<string, string>>;

/** All that the author sees of a guess for ten minutes: conditions, and Events. */
async function seen(kind: KindName, manifest: string, id: string): Promise<string> {
  const { world } = shop;
  const from = world.events.length;
  await world.apply(manifest);
  await world.advance(10 * MINUTE);
  const ref = { namespace: OTHERS, name: nameFor(id) };
  const { status } = world.kube.get(typeOfKind(kind), ref) as unknown as Shown;
  const conditions = status?.conditions?.map(
    ({ type, status: is, reason, message }) => `${type} ${is} ${reason}: ${message}`,
  );
  const events = world.events
    .slice(from)
    .filter(({ regarding }) => regarding.namespace === OTHERS)
    .map(({ reason, note }) => `${reason}: ${note}`);
  await world.user.mergePatch(typeOfKind(kind), ref, { spec: { deletionPolicy: 'Orphan' } });
  await world.user.delete(typeOfKind(kind), ref);
  await world.until(() => world.kube.get(typeOfKind(kind), ref) === undefined);
  const { id: _id, ...rest } = status ?? {};
  return JSON.stringify([conditions, events, Object.keys(rest).toSorted()]).replaceAll(id, '<id>');
}

describe('an author of another namespace who guesses an id and', () => {
  it.each(WAYS)(
    '%s sees no difference between what is there and what is not',
    async (_way, kind, of, write) => {
      const id = idOf(of, NAMES[of] ?? '');
      const mark = shop.mark();
      const hit = await seen(kind, write(id), id);
      const miss = await seen(kind, write(NOTHING), NOTHING);
      expect(hit).toBe(miss);
      expect(shop.writes(mark).filter((call) => call.includes(id))).toEqual([]);
      expect(
        shop.world.sandbox.admin.calls({ since: mark }).filter(({ path }) => path.includes(NOTHING)).length,
      ).toBeLessThan(20);
    },
  );
});
