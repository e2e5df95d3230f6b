import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KindName } from '../../src/api/kinds.ts';
import { BOXES, HOUR, instance, MINUTE, Shop } from './shop.ts';

const NOWHERE = '00000000-0000-4000-8000-00000000dead';
const CASES: readonly (readonly [KindName, string, string, string])[] = [
  ['Instance', 'web-eu', 'spec.boxId', instance().replace('boxRef: {name: web}', `boxId: ${NOWHERE}`)],
  [
    'Instance',
    'web-eu',
    'spec.policyBoxId',
    instance().replace('policyBoxRef: {name: small}', `policyBoxId: ${NOWHERE}`),
  ],
  [
    'PolicyBox',
    'other',
    'spec.providerId',
    (BOXES.split('---')[1] ?? '')
      .replace('name: small', 'name: other')
      .replace('00000000-0000-4000-8000-000000000001', NOWHERE),
  ],
  [
    'Box',
    'other',
    'variable "below"',
    `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: other}
spec:
  connectionRef: {name: main}
  variables: [{name: below, type: Box, boxId: ${NOWHERE}}]
`,
  ],
  [
    'Box',
    'other',
    'workspace',
    `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: other}
spec: {connectionRef: {name: main}, owner: nobody}
`,
  ],
];

// G3
describe('a plain id that the service does not know', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open();
  });
  afterEach(() => shop.close());

  for (const [kind, name, field, manifest] of CASES) {
    it(`in ${field} of ${kind} is told as a mistake after a lag window, and asked for slowly`, async () => {
      const before = shop.mark();
      await shop.world.apply(manifest);
      await shop.world.advance(30_000);
      expect(shop.ready(name, kind)).toBe('False WaitingForReference');
      await shop.world.until(() => shop.ready(name, kind) === 'False ReferenceNotFound', MINUTE);
      expect(shop.world.condition(kind, name, 'Stalled')?.status).toBe('True');
      expect(shop.message(name, kind)).toContain(field);
      const calls = (): number =>
        shop.world.sandbox.admin
          .calls({ since: before })
          .filter(({ path }) => path.includes(NOWHERE) || path.endsWith('/nobody')).length;
      const asked = calls();
      await shop.world.advance(HOUR);
      expect(calls() - asked).toBeLessThanOrEqual(6);
      expect(shop.writes(before)).toEqual([]);
      await shop.world.delete(kind, name);
      await shop.world.until(() => shop.world.get(kind, name) === undefined);
    });
  }

  it('is still told after a restart, and a Ref to what is not there goes on waiting', async () => {
    await shop.world.apply(instance().replace('boxRef: {name: web}', `boxId: ${NOWHERE}`));
    await shop.world.apply(instance('', 'waits').replace('boxRef: {name: web}', 'boxRef: {name: later}'));
    await shop.world.until(() => shop.ready() === 'False ReferenceNotFound', 2 * MINUTE);
    shop.restart();
    await shop.world.advance(10_000);
    expect(shop.ready()).toBe('False ReferenceNotFound');
    await shop.world.advance(HOUR);
    expect(shop.ready('waits')).toBe('False WaitingForReference');
  });

  it('is judged for itself, though another one stood in its place before', async () => {
    const other = NOWHERE.replace('dead', 'beef');
    const known = shop.world.get('PolicyBox', 'small')?.spec['providerId'];
    const before = shop.mark();
    const small = (): string => shop.ready('small', 'PolicyBox');
    await shop.world.edit('PolicyBox', 'small', { providerId: NOWHERE });
    await shop.world.until(() => small() === 'False ReferenceNotFound', 2 * MINUTE);
    await shop.world.edit('PolicyBox', 'small', { providerId: other });
    await shop.world.advance(10_000);
    expect(small()).toBe('False WaitingForReference');
    expect(shop.message('small', 'PolicyBox')).toContain(other);
    expect(shop.writes(before)).toEqual([]);
    await shop.world.edit('PolicyBox', 'small', { providerId: known });
    await shop.world.until(() => small().startsWith('True'), MINUTE);
  });
});
