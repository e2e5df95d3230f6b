import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changed, instance, Shop } from './shop.ts';

const RUNTIME = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: nginx}
spec:
  connectionRef: {name: main}
  variables: [{name: WORKERS, type: Number, value: '2'}]
  events: {install: {inline: "#!/bin/bash\\necho runtime"}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: stack}
spec:
  connectionRef: {name: main}
  requirements: [Linux]
  variables:
    - {name: PORT, type: Port, value: '8080'}
    - {name: LEVEL, type: Options, options: [info, debug], value: info}
    - {name: runtime, type: Box, boxRef: {name: nginx}}
  events: {install: {inline: "#!/bin/bash\\necho stack"}}
`;

const STACK = instance().replace('boxRef: {name: web}', 'boxRef: {name: stack}');

describe('an Instance that gives what its boxes do not have', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open();
    await shop.world.apply(RUNTIME);
    await shop.world.until(() => shop.world.ready('Box', 'stack') === 'True');
  });
  afterEach(() => shop.close());

  const posts = (): string[] => shop.writes(0).filter((call) => call === 'POST');
  const until = (reason: string): Promise<void> => shop.world.until(() => shop.ready() === `False ${reason}`);

  it.each([
    [
      "  variables: [{name: PORTT, type: Port, value: '1'}]",
      'UnknownVariable',
      'spec.variables[0].name: box stack has no variable PORTT; did you mean PORT? It has PORT, LEVEL, runtime',
    ],
    [
      "  overrides: [{scope: runtme, name: WORKERS, type: Number, value: '4'}]",
      'UnknownVariable',
      'spec.overrides[0].scope: box stack has no nested box runtme; did you mean runtime? It nests runtime',
    ],
    [
      "  overrides: [{scope: runtime, name: WORKER, type: Number, value: '4'}]",
      'UnknownVariable',
      'spec.overrides[0].name: box nginx has no variable WORKER; did you mean WORKERS? It has WORKERS',
    ],
    [
      "  variables: [{name: PORT, type: Text, value: '1'}]",
      'Unsuitable',
      'spec.variables[0].type: variable PORT of box stack has type Port, not Text',
    ],
    [
      '  variables: [{name: LEVEL, type: Options, value: loud}]',
      'Unsuitable',
      'spec.variables[0].value: variable LEVEL of box stack takes one of info, debug',
    ],
    [
      '  policyVariables: [{name: ZONE, type: Text, value: a}]',
      'UnknownVariable',
      'spec.policyVariables[0].name: policy box small has no variable ZONE. It has none',
    ],
  ])('is not deployed: %s', async (spec, reason, message) => {
    await shop.world.apply(`${STACK}${spec}`);
    await until(reason);
    expect(shop.message()).toBe(message);
    expect(posts()).toEqual([]);
    await shop.world.delete('Instance', 'web-eu');
    await shop.gone();
  });

  it('is not deployed where the policy box does not claim what the box requires, and is once it does', async () => {
    await shop.world.edit('Box', 'stack', { requirements: ['Linus'] });
    await shop.world.apply(STACK);
    await until('Unsuitable');
    expect(shop.message()).toBe(
      'spec.policyBoxRef: box stack requires Linus, and policy box small does not claim it; did you mean Linux?',
    );
    await shop.world.edit('Box', 'stack', { requirements: ['Linux'] });
    await shop.online();
  });

  it('is deployed as soon as the box declares the variable', async () => {
    await shop.world.apply(`${STACK}  variables: [{name: THREADS, type: Number, value: '3'}]\n`);
    await until('UnknownVariable');
    const variables = [
      { name: 'PORT', type: 'Port', value: '8080' },
      { name: 'THREADS', type: 'Number', value: '1' },
      { name: 'runtime', type: 'Box', boxRef: { name: 'nginx' } },
    ];
    await shop.world.edit('Box', 'stack', { variables });
    await shop.online();
    expect(shop.record().variables).toMatchObject([{ name: 'THREADS', value: '3' }]);
  });

  it('is deployed where somebody else has added the variable to the record of the box', async () => {
    const id = String(shop.world.get('Box', 'stack')?.status?.['id']);
    shop.spoil = ({ path, method }, given) =>
      method === 'GET' && path === `/services/boxes/${id}`
        ? changed(given, (record: { variables: object[] }) => ({
            ...record,
            variables: [...record.variables, { name: 'THREADS', type: 'Number', value: '1' }],
          }))
        : given;
    await shop.world.apply(`${STACK}  variables: [{name: THREADS, type: Number, value: '3'}]\n`);
    await shop.world.until(() => posts().length > 0);
    expect(posts()).toHaveLength(1);
  });

  it('keeps what runs, its power and its tags out of it when a change does not fit', async () => {
    await shop.world.apply(`${STACK}  variables: [{name: PORT, type: Port, value: '81'}]\n`);
    await shop.online();
    const from = shop.mark();
    await shop.world.edit('Instance', 'web-eu', {
      variables: [{ name: 'PORTS', type: 'Port', value: '82' }],
      tags: ['blue'],
      powerState: 'Stopped',
    });
    await shop.world.until(
      () => shop.pair() === 'done+shutdown_service' && shop.record().tags.includes('blue'),
    );
    await until('UnknownVariable');
    expect(shop.message()).toContain('Content: spec.variables[0].name: box stack has no variable PORTS');
    expect(shop.record().variables).toMatchObject([{ name: 'PORT', value: '81' }]);
    expect(shop.writes(from).filter((call) => /reconfigure|reinstall/.test(call))).toEqual([]);
    await shop.world.edit('Instance', 'web-eu', {
      variables: [{ name: 'PORT', type: 'Port', value: '81' }],
    });
    await shop.world.until(() => shop.ready() === 'True ShutDown');
  });

  it('stays Ready where what it was deployed with is no variable of the box any more', async () => {
    await shop.world.apply(`${STACK}  variables: [{name: LEVEL, type: Options, value: debug}]\n`);
    await shop.online();
    await shop.world.edit('Box', 'stack', { variables: [{ name: 'PORT', type: 'Port', value: '8080' }] });
    await shop.world.until(() => shop.world.condition('Instance', 'web-eu', 'UpdateAvailable') !== undefined);
    expect(shop.ready()).toBe('True Settled');
  });

  it('is deployed with a word where the box is known only by its id, and says so after a restart as well', async () => {
    const id = String(shop.world.get('Box', 'stack')?.status?.['id']);
    const byId = instance().replace('boxRef: {name: web}', `boxId: ${id}`);
    await shop.world.apply(`${byId}  variables: [{name: PORTT, type: Port, value: '1'}]\n`);
    const said = (): string | undefined => shop.world.condition('Instance', 'web-eu', 'Unsuitable')?.message;
    await shop.world.until(() => shop.ready().startsWith('True') && said() !== undefined);
    expect(said()).toBe(
      `spec.variables[0].name: box ${id} has no variable PORTT; did you mean PORT? It has PORT, LEVEL, runtime`,
    );
    shop.restart();
    await shop.world.advance(3_600_000);
    expect(said()).toContain('PORTT');
    await shop.world.edit('Instance', 'web-eu', { variables: [] });
    await shop.world.until(() => said() === undefined);
  });
});

describe('what the service warns of in a header', () => {
  let shop: Shop;
  beforeEach(async () => void (shop = await Shop.open()));
  afterEach(() => shop.close());

  it('is told by an event, once, cut and without secrets', async () => {
    shop.spoil = ({ method, path }, given) =>
      method === 'POST' && path === '/services/instances'
        ? {
            ...given,
            headers: {
              ...given.headers,
              warning: '299 - "the flavor is old; token-of-ops", 299 - "quota at 90 %"',
            },
          }
        : given;
    await shop.world.apply(instance());
    await shop.online();
    const notes = (): string[] =>
      shop.world.events.filter(({ reason }) => reason === 'ServiceWarned').map(({ note }) => note ?? '');
    await shop.world.until(() => notes().length === 2);
    expect(notes()).toEqual([
      expect.stringContaining('The service accepted the request and warns: the flavor is old; '),
      'The service accepted the request and warns: quota at 90 %',
    ]);
    expect(notes().join()).not.toContain('token-of-ops');
  });
});

describe('a Password that a box declares without a value', () => {
  let shop: Shop;
  beforeEach(async () => void (shop = await Shop.open({ sandbox: { readings: { passwords: 'masked' } } })));
  afterEach(() => shop.close());

  it('holds back no edit of the box while nobody has given it one, and does once somebody has', async () => {
    const { world } = shop;
    const id = String(world.get('Box', 'web')?.status?.['id']);
    await world.edit('Box', 'web', { description: 'first' });
    await world.until(() => shop.ready('web', 'Box') === 'True Settled');
    expect(shop.message('web', 'Box')).toBe('The record is as declared');
    const variables = [{ name: 'DB_PASSWORD', type: 'Password', value: 'of-others' }];
    expect(await shop.byHand('PUT', `/services/boxes/${id}`, { variables })).toBe(200);
    await world.edit('Box', 'web', { description: 'second' });
    await world.until(() => shop.ready('web', 'Box') === 'False NotApplied', 3_600_000);
    expect(shop.message('web', 'Box')).toContain('DB_PASSWORD');
  });
});
