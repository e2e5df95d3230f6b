import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PortRequest } from '../../src/service/index.ts';
import { answer, changed, HOUR, instance, MINUTE, Shop } from './shop.ts';

const PORT = '  variables: [{name: PORT, type: Port, value: "80"}]\n';
const port = (value: string): object => ({ variables: [{ name: 'PORT', type: 'Port', value }] });
const PUT = /^\/services\/instances\/[^/?]+$/;

const isPut = ({ method, path }: PortRequest): boolean => method === 'PUT' && PUT.test(path);
const valuesIn = (request: PortRequest): string => {
  const { variables = [] } = JSON.parse(Buffer.from(request.body ?? '{}').toString()) as {
    variables?: object[];
  };
  return JSON.stringify(variables);
};

const PASSWORD = {
  name: 'DB_PASSWORD',
  type: 'Password',
  valueFrom: { secretKeyRef: { name: 'db', key: 'password' } },
};
const login = (password: string): string => `
apiVersion: v1
kind: Secret
metadata: {name: db}
stringData: {password: ${password}}
`;

/** A Box that contains another. */
const nesting = (name: string, below?: string): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}}
spec:
  connectionRef: {name: main}
  events: {install: {inline: "echo ${name}"}}
  variables: [${below === undefined ? '' : `{name: below, type: Box, boxRef: {name: ${below}}}`}]
`;

describe('what is refused in one part of an instance', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open();
    await shop.world.apply(instance(PORT));
    await shop.online();
  });
  afterEach(() => shop.close());

  const edit = (spec: object): Promise<void> => shop.world.edit('Instance', 'web-eu', spec);
  const annotate = (annotations: Record<string, string>): Promise<void> =>
    shop.world.annotate('Instance', 'web-eu', annotations);

  /** A reconfigure that the service refuses for good. */
  async function refusedReconfigure(): Promise<void> {
    shop.judge = ({ path }) =>
      path.endsWith('/reconfigure') ? answer(400, { message: 'no such script' }) : undefined;
    await edit(port('81'));
    await shop.world.until(() => shop.ready() === 'False Refused');
    expect(shop.message()).toMatch(/^Content: .*no such script/);
  }

  // R4
  it('does not keep power back', async () => {
    await refusedReconfigure();
    await edit({ powerState: 'Stopped' });
    await shop.world.until(() => shop.pair().startsWith('done+shutdown'), MINUTE);
    expect(shop.record().operation.event).toMatch(/^shutdown/);
  });

  it('does not keep a request back', async () => {
    await refusedReconfigure();
    await annotate({ 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.status().handledRequests?.['reinstall'] === '1', MINUTE);
    expect(shop.record().operation.event).toBe('reinstall');
  });

  it.each([
    ['refuses', 403],
    ['fails at', 500],
  ])('as a request that the service %s for ever does not keep another request back', async (_how, status) => {
    let tries = 0;
    shop.judge = ({ path }) => {
      if (!path.endsWith('/reinstall')) return undefined;
      tries += 1;
      return answer(status, { message: 'not now' });
    };
    await annotate({ 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => tries > 1, HOUR);
    await annotate({ 'boxwright.dev/request-reconfigure': '1' });
    await shop.world.until(() => shop.status().handledRequests?.['reconfigure'] === '1', HOUR);
    expect(shop.record().operation.event).toBe('reconfigure');
    expect(shop.status().handledRequests?.['reinstall']).toBeUndefined();
  });

  it('does not keep a lease off the record, nor its end back', async () => {
    await refusedReconfigure();
    await edit({ lease: { operation: 'Shutdown', after: '1h' } });
    await shop.world.until(() => shop.record().lease?.operation === 'shutdown', MINUTE);
    await shop.world.until(() => shop.pair().startsWith('done+shutdown'), 2 * HOUR);
    expect(shop.record().operation.event).toMatch(/^shutdown/);
  });

  it('does not keep a lease back where every PUT is refused: the operator carries out its end', async () => {
    shop.judge = (request) => (isPut(request) ? answer(400, { message: 'read only' }) : undefined);
    await edit({ lease: { operation: 'Terminate', after: '1h' }, ...port('81') });
    await shop.world.until(() => shop.ready() === 'False Refused');
    await shop.world.advance(30 * MINUTE);
    expect(shop.status().lease?.by).toBe('Operator');
    await shop.world.until(() => shop.pair().startsWith('done+terminate'), HOUR);
  });

  it('for the value of a variable lets lease and tags through by a PUT of their own', async () => {
    shop.judge = (request) =>
      isPut(request) && valuesIn(request).includes('"666"')
        ? answer(400, { message: 'no such port' })
        : undefined;
    await edit({ ...port('666'), tags: ['blue'], lease: { operation: 'Shutdown', after: '8h' } });
    await shop.world.until(() => shop.record().tags.includes('blue'), MINUTE);
    await shop.world.until(() => shop.record().lease?.operation === 'shutdown', MINUTE);
    expect(shop.ready()).toBe('False Refused');
    expect(shop.message()).toContain('no such port');
    expect(shop.record().variables.find(({ name }) => name === 'PORT')?.value).toBe('80');
    await edit({ tags: [] });
    await shop.world.until(() => !shop.record().tags.includes('blue'), MINUTE);
    await edit(port('82'));
    await shop.world.until(() => shop.ready() === 'True Settled', 10 * MINUTE);
  });

  it('for the time being, as every PUT is, is not tried more often for each of its parts', async () => {
    let tried = 0;
    shop.judge = ({ method, path }) => {
      if (method !== 'PUT' || !/^\/services\/instances\/[^/]+$/.test(path)) return undefined;
      tried += 1;
      return answer(429, {});
    };
    await edit({ ...port('81'), tags: ['blue'], lease: { operation: 'Shutdown', after: '8h' } });
    await shop.world.advance(HOUR);
    // Twenty, and one for the second part that is meant.
    expect(tried).toBeLessThanOrEqual(21);
    shop.judge = ({ method, body }) =>
      method === 'PUT' && String(body).includes('"81"') ? answer(500, {}) : undefined;
    await shop.world.until(() => shop.record().lease !== undefined, HOUR);
    shop.judge = () => undefined;
    await shop.world.until(() => shop.ready() === 'True Settled', HOUR);
  });

  it('as a lease whose end is in the past does not keep power back', async () => {
    await edit({ powerState: 'Stopped', lease: { operation: 'Shutdown', expireAt: '2020-01-01T00:00:00Z' } });
    await shop.world.until(() => shop.pair().startsWith('done+shutdown'), MINUTE);
    await shop.world.until(() => shop.ready() === 'False Refused', MINUTE);
    expect(shop.message()).toMatch(/^Lease: /);
  });

  // H10
  it('as a shutdown that the service answers with an error is told, and holds nothing else back', async () => {
    shop.judge = ({ path }) =>
      path.endsWith('/shutdown') ? answer(500, { message: 'the hypervisor is away' }) : undefined;
    await edit({ powerState: 'Stopped' });
    await shop.world.until(() => shop.message().includes('the hypervisor is away'), MINUTE);
    await edit({ tags: ['blue'] });
    await shop.world.until(() => shop.record().tags.includes('blue'), 5 * MINUTE);
    expect(shop.record().tags).toContain('blue');
  });

  it('as a Secret that is gone keeps nothing else back, and least of all the end of a lease', async () => {
    await shop.world.apply(login('first'));
    await edit({ variables: [PASSWORD], tags: ['blue'] });
    await shop.online();
    await shop.world.until(() => shop.record().tags.includes('blue'));
    await shop.world.delete('Secret', 'db');
    await edit({ tags: ['red'], lease: { operation: 'Shutdown', after: '1h' } });
    await shop.world.until(() => shop.ready() === 'False WaitingForReference', MINUTE);
    expect(shop.message()).toContain('Secret "db" does not exist');
    await shop.world.until(() => shop.record().lease?.operation === 'shutdown', MINUTE);
    await annotate({ 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.status().handledRequests?.['reinstall'] === '1', MINUTE);
    const before = shop.record().variables;
    expect(before).toMatchObject([{ name: 'DB_PASSWORD', value: 'first' }]);
    await shop.world.until(() => shop.pair().startsWith('done+shutdown'), 2 * HOUR);
    await shop.world.until(() => shop.ready() === 'False WaitingForReference', MINUTE);
    expect(shop.record().variables).toEqual(before);
    await edit({ powerState: 'Running' });
    await shop.world.until(() => shop.pair() === 'done+poweron', 5 * MINUTE);
    await shop.world.apply(login('second'));
    await shop.online();
    expect(shop.record().variables).toMatchObject([{ name: 'DB_PASSWORD', value: 'second' }]);
    expect(shop.record().tags).toContain('red');
  });

  it('lets a power-on go after two minutes, and applies the change when it is on the record', async () => {
    await edit({ powerState: 'Stopped' });
    await shop.world.until(() => shop.ready() === 'True ShutDown');
    shop.judge = (request) => (isPut(request) ? answer(500, { message: 'down' }) : undefined);
    await edit({ ...port('81'), powerState: 'Running' });
    await shop.world.advance(MINUTE);
    expect(shop.pair()).toMatch(/^done\+shutdown/);
    await shop.world.until(() => shop.pair() === 'done+poweron', 3 * MINUTE);
    shop.judge = () => undefined;
    await shop.world.until(() => shop.ready() === 'True Settled', HOUR);
    expect(shop.record().operation.event).toBe('reconfigure');
  });
});

describe('an instance', () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await Shop.open();
  });
  afterEach(() => shop.close());

  // R5
  it.each(['Report', 'Ignore'])(
    'with driftPolicy %s has a newly declared tag put on its record',
    async (policy) => {
      await shop.world.apply(instance(`  driftPolicy: ${policy}\n  tags: [one]`));
      await shop.online();
      await shop.world.edit('Instance', 'web-eu', { tags: ['one', 'two'] });
      await shop.world.until(() => shop.record().tags.includes('two'), MINUTE);
      await shop.online();
      const before = shop.mark();
      const { id, tags } = shop.record();
      shop.world.sandbox.admin.editRecord('instances', id, { tags: tags.filter((tag) => tag !== 'two') });
      await shop.world.advance(HOUR);
      expect(shop.writes(before)).toEqual([]);
    },
  );

  it.each(['Report', 'Ignore'])(
    'with driftPolicy %s keeps what somebody has changed when a tag is declared',
    async (policy) => {
      await shop.world.apply(
        instance(`  driftPolicy: ${policy}\n  variables: [{name: PORT, type: Port, value: "80"}]`),
      );
      await shop.online();
      const { id, variables } = shop.record();
      const theirs = variables.map((one) => (one.name === 'PORT' ? { ...one, value: '99' } : one));
      shop.world.sandbox.admin.editRecord('instances', id, { variables: theirs });
      await shop.world.edit('Instance', 'web-eu', { tags: ['two'] });
      await shop.world.until(() => shop.record().tags.includes('two'), MINUTE);
      await shop.online();
      expect(shop.record().variables.find(({ name }) => name === 'PORT')?.value).toBe('99');
    },
  );

  // R6
  it('with a token of 250 characters is reinstalled once', async () => {
    await shop.world.apply(instance());
    await shop.online();
    const before = shop.mark();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 't'.repeat(250) });
    await shop.world.advance(2 * HOUR);
    expect(shop.writes(before)).toEqual(['PUT reinstall']);
    await shop.world.annotate('Instance', 'web-eu', {
      'boxwright.dev/request-reinstall': `${'t'.repeat(249)}u`,
    });
    await shop.world.advance(2 * HOUR);
    expect(shop.writes(before)).toEqual(['PUT reinstall', 'PUT reinstall']);
  });

  // R8
  it('whose service has no address yet shows it once it has, without an operation', async () => {
    let hasAddress = false;
    shop.spoil = (request, given) =>
      /^\/services\/instances\/[^/]+\/service$/.test(request.path) && given.status === 200 && !hasAddress
        ? changed(given, (body: { machines: object[] }) => ({
            ...body,
            machines: body.machines.map((machine) => ({ ...machine, address: {} })),
          }))
        : given;
    await shop.world.apply(instance());
    await shop.online();
    expect(shop.world.get('Instance', 'web-eu')?.status?.['address']).toBeUndefined();
    await shop.world.advance(3 * MINUTE);
    hasAddress = true;
    await shop.world.until(
      () => shop.world.get('Instance', 'web-eu')?.status?.['address'] !== undefined,
      10 * MINUTE,
    );
  });

  it.each([404, 403])(
    'whose service answers %d for ever is asked for addresses ever less often',
    async (status) => {
      let asked = 0;
      shop.judge = ({ path }) => {
        if (!path.endsWith('/service')) return undefined;
        asked += 1;
        return answer(status, { message: 'not here' });
      };
      await shop.world.apply(instance());
      await shop.online();
      await shop.world.advance(24 * HOUR);
      expect(asked).toBeLessThan(25);
      expect(shop.ready()).toBe('True Settled');
    },
  );

  it('of a service without machines shows the address of the service', async () => {
    shop.spoil = (request, given) => {
      if (given.status !== 200 || given.body.byteLength === 0) return given;
      if (/^\/services\/instances\/[^/]+\/service$/.test(request.path)) {
        return changed(given, (body: object) => ({ ...body, machines: [], address: 'db.example.com' }));
      }
      return PUT.test(request.path)
        ? changed(given, (body: { service?: object }) => ({
            ...body,
            service: { ...body.service, machines: [] },
          }))
        : given;
    };
    await shop.world.apply(instance());
    await shop.online();
    await shop.world.until(
      () => shop.world.get('Instance', 'web-eu')?.status?.['address'] !== undefined,
      MINUTE,
    );
    expect(shop.world.get('Instance', 'web-eu')?.status?.['address']).toBe('db.example.com');
  });

  // R11
  it('that is adopted with other variables than declared has them applied', async () => {
    const id = await shop.leftBehind(PORT);
    await shop.world.apply(
      instance(PORT.replace('80', '81'), 'web-eu', JSON.stringify({ 'boxwright.dev/adopt': id })),
    );
    await shop.online();
    expect(shop.record(id).variables.find(({ name }) => name === 'PORT')?.value).toBe('81');
    expect(shop.record(id).operation.event).toBe('reconfigure');
  });

  // R16
  it('whose deploy has failed keeps its diagnosis when a request is refused', async () => {
    shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 } as never);
    await shop.world.apply(instance());
    await shop.world.until(() => shop.ready() === 'False OperationFailed');
    const { lastOperation } = shop.status();
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': '1' });
    await shop.world.until(() => shop.status().handledRequests?.['reinstall'] === '1');
    expect(shop.status().lastOperation).toEqual(lastOperation);
    expect(shop.world.get('Instance', 'web-eu')?.status?.['refusedRequest']).toMatchObject({
      operation: 'reinstall',
    });
    await shop.world.until(() => shop.ready() === 'False OperationFailed');
    expect(shop.message()).not.toContain('request-reinstall');
    const update = shop.world.condition('Instance', 'web-eu', 'UpdateAvailable')?.message ?? '';
    expect(update).not.toContain('request-reinstall');
  });

  it('whose deploy has failed says why once its log can be read, and in the same words from then on', async () => {
    let isDown = true;
    shop.judge = ({ path }) =>
      isDown && path.includes('/activity') ? answer(503, { message: 'not now' }) : undefined;
    shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 });
    await shop.world.apply(instance());
    await shop.world.until(() => shop.ready() === 'False OperationFailed');
    expect(shop.message()).toMatch(/^deploy failed\. /);
    isDown = false;
    await shop.world.until(() => shop.message().startsWith('deploy failed: '), MINUTE);
    const said = shop.message();
    expect(said).toContain(shop.status().lastOperation?.message);
    await shop.world.advance(HOUR);
    expect(shop.message()).toBe(said);
  });

  // R14
  it('whose box contains a box that contains one that changes names that one, until it is reinstalled', async () => {
    for (const manifests of [nesting('bottom'), nesting('middle', 'bottom'), nesting('top', 'middle')]) {
      await shop.world.apply(manifests);
    }
    await shop.world.apply(instance().replace('boxRef: {name: web}', 'boxRef: {name: top}'));
    await shop.online();
    const update = (): string => shop.world.condition('Instance', 'web-eu', 'UpdateAvailable')?.message ?? '';
    await shop.world.advance(20 * MINUTE);
    expect(update()).toBe('');
    await shop.world.edit('Box', 'bottom', { events: { install: { inline: 'echo other' } } });
    await shop.world.until(() => update().includes('"bottom"'), 30_000);
    await shop.world.annotate('Instance', 'web-eu', { 'boxwright.dev/request-reinstall': 'now' });
    await shop.world.until(() => shop.status().lastOperation?.event === 'reinstall', 10 * MINUTE);
    await shop.online();
    expect(update()).toBe('');
  });

  // G6
  it('whose deploy has failed is deployed again once when its box has changed', async () => {
    shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 2 } as never);
    await shop.world.apply(instance());
    await shop.world.until(() => shop.ready() === 'False OperationFailed');
    const before = shop.mark();
    await shop.world.edit('Box', 'web', { description: 'mended' });
    await shop.world.until(() => shop.writes(before).includes('PUT deploy'), 10 * MINUTE);
    await shop.world.until(() => shop.ready() === 'False OperationFailed', 10 * MINUTE);
    await shop.world.advance(2 * HOUR);
    expect(shop.writes(before).filter((call) => call === 'PUT deploy')).toHaveLength(1);
    await shop.world.edit('Box', 'web', { description: 'mended for good' });
    await shop.online();
  });
});
