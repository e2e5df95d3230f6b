import { expect, it } from 'vitest';
import type { PortAnswer } from '../../../src/service/index.ts';
import { changed, instance, MINUTE, Shop } from '../shop.ts';

const MB = 1_000_000;
/** What a run of the operator may take for what it is answered here, milliseconds by the clock; it took hours. */
const LONGEST_MS = 10_000;
const words = (letter: string): string[] => Array.from({ length: 15_000 }, (_, i) => `${letter}${i}-of-many`);

/** A record that a service has made up, with as much of everything as an answer may hold. */
const inflated = (record: object): object => ({
  ...record,
  requirements: words('r'),
  claims: words('c'),
  variables: [
    { name: 'N'.repeat(MB), type: 'Text' },
    { name: 'CHOICE', type: 'Options', value: 'a', options: 'a,b,'.repeat(MB / 2) },
    ...Array.from({ length: 2_000 }, (_, i) => ({ name: `PORT_${i}`.padEnd(64, 'x'), type: 'Port' })),
  ],
});

it('a box that is only known by its id is judged by as much of it as anybody means', async () => {
  const shop = await Shop.open();
  try {
    const { world } = shop;
    const [boxId, policyBoxId] = [
      world.get('Box', 'web')?.status?.id ?? '',
      world.get('PolicyBox', 'small')?.status?.id ?? '',
    ];
    await world.edit('Box', 'web', { paused: true });
    await world.edit('PolicyBox', 'small', { paused: true });
    shop.spoil = ({ method, path }, given: PortAnswer) =>
      method === 'GET' && path.startsWith('/services/boxes/') && given.status === 200
        ? changed(given, inflated)
        : given;
    const begun = performance.now();
    await world.apply(
      instance(`  variables: [{name: PORTT, type: Port, value: '1'}]`)
        .replace('boxRef: {name: web}', `boxId: ${boxId}`)
        .replace('policyBoxRef: {name: small}', `policyBoxId: ${policyBoxId}`),
    );
    await world.until(() => world.condition('Instance', 'web-eu', 'Unsuitable') !== undefined, 10 * MINUTE);
    expect(world.condition('Instance', 'web-eu', 'Unsuitable')?.message).toContain('has no variable PORTT');
    expect(performance.now() - begun).toBeLessThan(LONGEST_MS);
  } finally {
    await shop.close();
  }
});
