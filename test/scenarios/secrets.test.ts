import { describe, expect, it } from 'vitest';
import { silentLogger, type Logger } from '../../src/base/logger.ts';
import type { KubePort, KubeRequest } from '../../src/kube/index.ts';
import { CONNECTION, examples, World, type WorldOptions } from '../support/world.ts';

const secret = (name: string, key: string, value: string): string => `
apiVersion: v1
kind: Secret
metadata: {name: ${name}}
stringData: {${key}: ${value}}
`;
const login = (token: string): string => secret('deploy-login', 'token', token);
const box = (name: string, description = 'Front'): string => `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: ${name}}
spec:
  connectionRef: {name: main}
  description: ${description}
  variables:
    - {name: DB_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}
`;

/** What the operator asks the API server about Secrets, and a switch that refuses lists and watches of them. */
class SecretCalls {
  readonly gets: string[] = [];
  /** Lists and watches. */
  readonly follows: KubeRequest[] = [];
  refused = false;

  readonly kubePort = (port: KubePort): KubePort => {
    const refusal = { status: 403, headers: {}, body: { kind: 'Status', code: 403, reason: 'Forbidden' } };
    const turnsAway = (request: KubeRequest): boolean => {
      if (request.method !== 'GET') return false;
      const [, all, name] = /(\/secrets)(\/.*)?$/.exec(request.path) ?? [];
      if (name !== undefined) this.gets.push(name.slice(1));
      else if (all !== undefined) this.follows.push(request);
      return all !== undefined && name === undefined && this.refused;
    };
    return {
      request: (request) => (turnsAway(request) ? Promise.resolve(refusal) : port.request(request)),
      watch: (request) =>
        turnsAway(request)
          ? Promise.resolve({ ...refusal, events: none(), close: () => undefined })
          : port.watch(request),
    };
  };
}

async function* none(): AsyncGenerator<never> {
  // A refused watch has no lines.
}

/** A world whose connection is ready; `run` starts the rest. */
async function connected(options: WorldOptions = {}): Promise<World> {
  const world = new World(options);
  world.start();
  await world.apply(CONNECTION);
  await world.until(() => world.ready('Connection', 'main') === 'True');
  return world;
}

const said = (world: World, kind: 'Connection' | 'Box' | 'Instance', name: string): string =>
  `${world.ready(kind, name)} ${world.condition(kind, name, 'Ready')?.reason}`;
const message = (world: World, name: string): string => world.condition('Box', name, 'Ready')?.message ?? '';

/** The value of a box's variable as the service has it. */
function valueOf(world: World, name: string): unknown {
  const records = world.sandbox.admin.records('boxes') as unknown as {
    name: string;
    variables: { name: string; value?: string }[];
  }[];
  const record = records.find((one) => one.name === name);
  return record?.variables.find((variable) => variable.name === 'DB_PASSWORD')?.value;
}

describe('with Secrets followed', () => {
  it('an edited value behind a variable is on the record at once', async () => {
    const world = await connected({ watchSecrets: true });
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled');
    await world.advance(60_000);
    await world.apply(secret('db', 'password', 'second-value'));
    await world.until(() => valueOf(world, 'web') === 'second-value', 1_000);
    await world.until(() => said(world, 'Box', 'web') === 'True Settled', 1_000);
    expect(valueOf(world, 'web')).toBe('second-value');
  });

  it('a rotated login is taken up by the pass that the edit wakes', async () => {
    const calls = new SecretCalls();
    const world = await connected({ watchSecrets: true, kubePort: calls.kubePort });
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled');
    world.sandbox.admin.revokeTokens();
    await world.edit('Box', 'web', { description: 'Another' });
    await world.until(() => said(world, 'Connection', 'main') === 'False CredentialsRejected');
    // Nothing is looked at meanwhile.
    const before = calls.gets.length;
    await world.advance(300_000);
    expect(calls.gets.slice(before)).toEqual([]);
    await world.apply(login(world.sandbox.admin.issueToken('ops@example.com')));
    await world.until(() => said(world, 'Connection', 'main') === 'True Settled', 500);
    expect(calls.gets.filter((name) => name === 'deploy-login')).toHaveLength(
      calls.gets.slice(0, before).filter((name) => name === 'deploy-login').length + 1,
    );
    await world.until(() => said(world, 'Box', 'web') === 'True Settled', 500);
  });

  it('a deleted Secret is named at once by whoever needs it, and its return ends that', async () => {
    const world = await connected({ watchSecrets: true });
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled');
    await world.delete('Secret', 'db');
    await world.until(() => said(world, 'Box', 'web') === 'False WaitingForReference', 1_000);
    expect(message(world, 'web')).toBe('spec.variables: variable "DB_PASSWORD": Secret "db" does not exist');
    await world.apply(secret('db', 'user', 'ops'));
    await world.until(() => message(world, 'web').includes('has no key "password"'), 1_000);
    await world.apply(secret('db', 'password', 'second-value'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled', 1_000);
    expect(valueOf(world, 'web')).toBe('second-value');

    await world.delete('Secret', 'deploy-login');
    await world.until(() => said(world, 'Connection', 'main') === 'False WaitingForSecret', 1_000);
    await world.apply(login('token-of-ops'));
    await world.until(() => said(world, 'Connection', 'main') === 'True Settled', 1_000);
  });

  it('Secrets that nothing refers to wake nobody, and none is read', async () => {
    const calls = new SecretCalls();
    const world = await connected({ watchSecrets: true, kubePort: calls.kubePort });
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled');
    const gets = calls.gets.length;
    const served = world.sandbox.admin.calls({}).length;
    for (let i = 0; i < 50; i++) await world.apply(secret(`other-${i}`, 'password', `value-${i}`));
    await world.advance(30_000);
    expect(calls.gets).toHaveLength(gets);
    expect(world.sandbox.admin.calls({})).toHaveLength(served);
    expect(calls.follows.map(({ accept }) => accept)).toEqual(
      calls.follows.map(() => expect.stringContaining('as=PartialObjectMetadata')),
    );
  });

  it('that the operator may not follow, it says so once, does without, and follows once it may', async () => {
    const calls = new SecretCalls();
    calls.refused = true;
    const lines: { level: string; fields: object; message: string }[] = [];
    const log: Logger = {
      ...silentLogger,
      info: (fields, text) => lines.push({ level: 'info', fields, message: text }),
      error: (fields, text) => lines.push({ level: 'error', fields, message: text }),
      child: () => log,
    };
    const told = (level: string): object[] =>
      lines.filter((line) => line.level === level && line.message.startsWith('Secrets are'));
    const world = await connected({ watchSecrets: true, kubePort: calls.kubePort, log });
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled');
    await world.advance(600_000);
    await world.apply(secret('db', 'password', 'second-value'));
    await world.until(() => valueOf(world, 'web') === 'second-value', 301_000);
    expect(calls.follows.length).toBeGreaterThan(10);
    expect(told('error')).toEqual([
      {
        level: 'error',
        message: expect.stringMatching(/not followed: grant the rights, or switch the flag off/),
        fields: {
          namespace: 'all',
          flag: '--watch-secrets',
          rights: 'list and watch on secrets',
          refused: 'list',
        },
      },
    ]);
    calls.refused = false;
    await world.until(() => told('info').length === 1, 40_000);
    await world.advance(5_000);
    await world.apply(secret('db', 'password', 'third-value'));
    await world.until(() => valueOf(world, 'web') === 'third-value', 1_000);
  });
});

describe('without', () => {
  it('no Secret is ever listed or watched, from the first apply to the last delete', async () => {
    const calls = new SecretCalls();
    const world = await connected({ kubePort: calls.kubePort });
    await world.apply(examples());
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('store'));
    await world.until(() => said(world, 'Instance', 'web-eu') === 'True Settled');
    await world.until(() => said(world, 'Box', 'store') === 'True Settled');
    await world.advance(1_200_000);
    await world.delete('Box', 'store');
    await world.until(() => world.get('Box', 'store') === undefined);
    expect(calls.follows).toEqual([]);
    expect([...new Set(calls.gets)].toSorted()).toContain('db');
  });

  it('an edited value is on the record within five minutes', async () => {
    const world = await connected();
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled');
    await world.advance(3_600_000);
    await world.apply(secret('db', 'password', 'second-value'));
    await world.until(() => valueOf(world, 'web') === 'second-value', 301_000);
    expect(said(world, 'Box', 'web')).not.toContain('Stalled');
  });

  it('an edit that comes with a change of the resource goes with it, though another has just read the Secret', async () => {
    const world = await connected();
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web') + '---' + box('shop'));
    for (const name of ['web', 'shop']) await world.until(() => said(world, 'Box', name) === 'True Settled');
    await world.advance(3_600_000);
    await world.edit('Box', 'shop', { description: 'Another' });
    await world.advance(300);
    await world.apply(secret('db', 'password', 'second-value') + '---' + box('web', 'Another'));
    await world.until(() => valueOf(world, 'web') === 'second-value', 2_000);
    expect(said(world, 'Box', 'web')).not.toContain('Stalled');
  });

  it('a Secret that is applied just after its user is seen within seconds', async () => {
    const world = await connected();
    await world.apply(box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'False WaitingForReference');
    await world.advance(2_000);
    await world.apply(secret('db', 'password', 'first-value'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled', 12_000);
    await world.advance(3_600_000);

    await world.apply(box('web', 'Another'));
    await world.advance(500);
    await world.apply(secret('db', 'password', 'second-value'));
    await world.until(() => valueOf(world, 'web') === 'second-value', 12_000);
    expect(said(world, 'Box', 'web')).not.toContain('Stalled');
  });

  it('a settled resource goes back to a look every five minutes', async () => {
    const calls = new SecretCalls();
    const world = await connected({ kubePort: calls.kubePort });
    await world.apply(secret('db', 'password', 'first-value') + '---' + box('web'));
    await world.until(() => said(world, 'Box', 'web') === 'True Settled');
    await world.advance(1_800_000);
    const looks = (): number => calls.gets.filter((name) => name === 'db').length;
    const before = looks();
    await world.advance(3_000_000);
    expect(looks() - before).toBeLessThanOrEqual(11);
    // Nor does a restart look oftener: what was handled before is not new.
    world.kill();
    world.start();
    await world.advance(10_000);
    const restarted = looks();
    await world.advance(290_000);
    expect(looks() - restarted).toBeLessThanOrEqual(1);
  });
});
