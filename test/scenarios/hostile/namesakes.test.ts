import { expect, it } from 'vitest';
import { ANNOTATIONS } from '../../../src/api/names.ts';
import { CONNECTION, NAMESPACE } from '../../support/world.ts';
import { BOXES, HOUR, instance, leaseOf, Shop } from '../shop.ts';

/** The namespace of an author who gives everything the names that the victim's have. */
const OTHERS = 'default';
const SECRET = 'the-password-of-the-victim';
const theirs = (manifests: string): string =>
  manifests.replaceAll('metadata: {', `metadata: {namespace: ${OTHERS}, `);
const secret = (value: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {password: ${value}}\n`;
const VARIABLES =
  '  variables: [{name: DB_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}]\n';
/** Ends, switches and requests that would all reach the victim's instance if names were enough. */
const LEASES = [
  leaseOf('ends', "expireAt: '2020-01-01T00:00:00Z', operation: Terminate"),
  leaseOf('lease', 'after: 1m, operation: Shutdown'),
  leaseOf('schedule', 'schedule: {timeZone: UTC, up: [{days: [Mon], from: "00:00", to: "00:01"}]}'),
].join('\n---\n');

it('leases, schedules, selectors, Secrets and Boxes of the same names in another namespace reach nothing', async () => {
  const shop = await Shop.open();
  try {
    const { world } = shop;
    await world.apply(secret(SECRET));
    await world.apply(instance(VARIABLES));
    await shop.online();
    await world.advance(HOUR);
    const shown = (): string =>
      JSON.stringify([world.get('Instance', 'web-eu'), world.get('Box', 'web'), shop.record()]);
    const before = shown();
    const { id } = shop.record();
    const [mark, events] = [shop.mark(), world.events.length];
    await world.apply(theirs(secret('a-password-of-the-author')));
    await world.apply(theirs(CONNECTION));
    await world.apply(theirs(BOXES));
    await world.apply(theirs(LEASES));
    await world.apply(
      theirs(
        instance(
          `${VARIABLES}  powerState: Stopped\n  leaseRef: {name: lease}\n`,
          'web-eu',
          JSON.stringify({
            [ANNOTATIONS.requestReinstall]: 'now',
            [ANNOTATIONS.renew]: 'now',
            [ANNOTATIONS.requestedAt]: 'now',
          }),
        )
          .replace('boxRef: {name: web}', `boxId: ${world.get('Box', 'web')?.status?.id}`)
          .replace(
            'policyBoxRef: {name: small}',
            `policyBoxId: ${world.get('PolicyBox', 'small')?.status?.id}`,
          ),
      ),
    );
    await world.advance(24 * HOUR);
    expect(shown()).toBe(before);
    const calls = world.sandbox.admin.calls({ since: mark });
    expect(calls.filter(({ method, path }) => method !== 'GET' && path.includes(id))).toEqual([]);
    expect(world.events.slice(events).filter(({ regarding }) => regarding.namespace === NAMESPACE)).toEqual(
      [],
    );
    const own = shop.records().filter((record) => record.id !== id);
    expect(own.length).toBeLessThan(2);
    expect(JSON.stringify(own)).not.toContain(SECRET);
  } finally {
    await shop.close();
  }
});
