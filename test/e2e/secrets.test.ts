import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { silentLogger, type Logger } from '../../src/base/logger.ts';
import { RIGHTS, type Right } from '../../src/controllers/rights.ts';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { BOX_AND_POLICY, RealWorld, type RealWorldOptions } from '../support/real-world.ts';

beforeAll(async () => {
  await installKinds(testCluster());
});

const account = 'ops@example.com';
const secret = (name: string, key: string, value: string): string => `
apiVersion: v1
kind: Secret
metadata: {name: ${name}}
stringData: {${key}: ${JSON.stringify(value)}}
`;
const STORE = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: store}
spec:
  connectionRef: {name: main}
  variables:
    - {name: DB_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: db, key: password}}}
`;

/** A world with a box in it that is in place. */
async function settledWorld(options: RealWorldOptions): Promise<RealWorld> {
  const world = await RealWorld.start(options);
  await world.put(
    `${world.connection()}---\n${BOX_AND_POLICY}---\n${secret('db', 'password', 'first')}---\n${STORE}`,
  );
  await Promise.all([world.ready('Box', 'plain'), world.ready('Box', 'store')]);
  return world;
}

/** The value of the variable of `store` as the service has it. */
function storedValue(world: RealWorld): unknown {
  const boxes = world.sandbox.admin.records('boxes') as unknown as {
    name: string;
    variables: { name: string; value?: string }[];
  }[];
  return boxes.find(({ name }) => name === 'store')?.variables.find(({ name }) => name === 'DB_PASSWORD')
    ?.value;
}

/** Takes the login away on the service's side; resolves once the operator has met the refusal. */
async function revoke(world: RealWorld): Promise<void> {
  expect(world.sandbox.admin.revokeTokens()).toBeGreaterThan(0);
  await world.edit('Box', 'plain', { description: `edited at ${Date.now()}` });
  await world.condition('Connection', 'main', { status: 'False', reason: 'CredentialsRejected' }, 45_000);
}

/** Puts a new login into the Secret, and answers how long it took until everything was well again, milliseconds. */
async function rotate(world: RealWorld): Promise<number> {
  const token = world.sandbox.admin.issueToken(account);
  const began = performance.now();
  await world.put(secret('deploy-login', 'token', token));
  await world.ready('Connection', 'main', 60_000);
  await world.ready('Box', 'plain', 60_000);
  return performance.now() - began;
}

describe('a login that is revoked and put anew into its Secret', () => {
  it('is taken up within 60 s without a restart where Secrets are read by name', async () => {
    await using world = await settledWorld({});
    await revoke(world);
    expect(await rotate(world)).toBeLessThan(60_000);
    const follows = world.cluster
      .auditLog()
      .filter(({ user, objectRef }) => user.username === world.user && objectRef?.resource === 'secrets')
      .filter(({ verb }) => verb !== 'get' && verb !== 'create');
    expect(follows.map(({ verb, requestURI }) => `${verb} ${requestURI}`)).toEqual([]);
  }, 150_000);

  it('is taken up within seconds where they are followed, twice in a row', async () => {
    await using world = await settledWorld({ operator: { watchSecrets: true } });
    for (let times = 0; times < 2; times++) {
      await revoke(world);
      expect(await rotate(world)).toBeLessThan(10_000);
    }
    const reads = world.cluster
      .auditLog()
      .filter(({ user, objectRef }) => user.username === world.user && objectRef?.resource === 'secrets');
    expect(reads.filter(({ verb }) => verb === 'list')).toHaveLength(1);
  }, 150_000);
});

describe('a Secret behind a variable', () => {
  it('is on the record within seconds of its edit, and named when it is gone, where Secrets are followed', async () => {
    await using world = await settledWorld({
      operator: { watchSecrets: true },
      // Nothing else would look at it.
      poll: { settled: '10m' },
    });
    await world.put(secret('db', 'password', 'second'));
    await eventually('the second value', () => storedValue(world) === 'second', { timeoutMs: 10_000 });
    await world.delete('Secret', 'db');
    const gone = { status: 'False', reason: 'WaitingForReference', message: /Secret "db" does not exist/ };
    await world.condition('Box', 'store', gone, 10_000);
    await world.put(secret('db', 'password', 'third'));
    await world.ready('Box', 'store', 10_000);
    expect(storedValue(world)).toBe('third');
  });
});

describe('an operator that is told to follow Secrets and may not', () => {
  let world: RealWorld;
  let health = '';
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const log: Logger = {
    ...silentLogger,
    info: (fields, message) => lines.push({ level: 'info', fields: { ...fields }, message }),
    error: (fields, message) => lines.push({ level: 'error', fields: { ...fields }, message }),
    child: () => log,
  };
  const user = `follower-${Math.random().toString(36).slice(2, 10)}`;

  beforeAll(async () => {
    const kubeconfig = testCluster().kubeconfigFor(user);
    world = await RealWorld.start({
      idle: true,
      log,
      operator: {
        kubeconfig,
        watchSecrets: true,
        health: { host: '127.0.0.1', port: 0, onListening: (url) => (health = url) },
      },
    });
    await world.cluster.apply(grants(world));
    await world.startOperator();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it('works, is ready, and names the right and the flag in its log and at /readyz', async () => {
    await world.put(`${world.connection()}---\n${secret('db', 'password', 'first')}---\n${STORE}`);
    await world.ready('Box', 'store');
    expect(lines).toContainEqual({
      level: 'error',
      message: expect.stringContaining('Secrets are not followed: grant the rights, or switch the flag off'),
      fields: {
        namespace: world.namespace,
        flag: '--watch-secrets',
        rights: 'list and watch on secrets',
        refused: 'list',
      },
    });
    const { statusCode, body } = await request(`${health}/readyz`);
    expect(statusCode).toBe(200);
    expect(await body.text()).toContain(
      `[!] secrets: the operator may not list Secrets in namespace "${world.namespace}": grant list and watch on ` +
        `secrets, or switch --watch-secrets off`,
    );
  });

  it('follows them as soon as it may, and says so', async () => {
    await world.cluster.apply(grants(world, 'secrets.watch'));
    await eventually(
      'Secrets are followed',
      () => lines.some(({ message }) => message === 'Secrets are followed'),
      {
        timeoutMs: 45_000,
      },
    );
    const { body } = await request(`${health}/readyz`);
    expect(await body.text()).not.toContain('[!]');
    await world.put(secret('db', 'password', 'second'));
    await eventually('the second value', () => storedValue(world) === 'second', { timeoutMs: 10_000 });
  }, 90_000);

  it('says so again when the right to watch is taken away, and goes on without', async () => {
    const before = lines.length;
    await world.cluster.apply(grants(world, 'list-only'));
    // The watch that is open may stay so; a new process has to ask.
    await world.stopOperator();
    await world.startOperator();
    await eventually('the refused watch is told', () =>
      lines.slice(before).find(({ fields }) => fields['refused'] === 'watch'),
    );
    await world.edit('Box', 'store', { description: 'Another' });
    await world.ready('Box', 'store');
    const note = await eventually('/readyz names the watch', async () => {
      const { statusCode, body } = await request(`${health}/readyz`);
      const text = await body.text();
      return statusCode === 200 && /may not watch Secrets/.test(text) ? text : undefined;
    });
    expect(note).toContain('--watch-secrets');
  }, 90_000);

  /** The rights that the code declares, with those on Secrets as `secrets` says. */
  function grants({ namespace, home }: RealWorld, secrets?: 'secrets.watch' | 'list-only'): string {
    const watched = RIGHTS.filter((right) => right.scope === 'watched')
      .filter(({ when }) => when === undefined || secrets !== undefined)
      .map((right) =>
        right.when !== undefined && secrets === 'list-only' ? { ...right, verbs: ['list'] } : right,
      );
    const own = RIGHTS.filter((right) => right.scope === 'own');
    return [...role(namespace, watched as Right[]), ...role(home, own)]
      .map((object) => stringify(object))
      .join('---\n');
  }

  function role(namespace: string, rights: readonly Right[]): object[] {
    const metadata = { name: 'follower', namespace };
    const rules = rights.map(({ apiGroup, resource, verbs, resourceNames }) => ({
      apiGroups: [apiGroup],
      resources: [resource],
      verbs,
      ...(resourceNames === undefined ? {} : { resourceNames }),
    }));
    const apiVersion = 'rbac.authorization.k8s.io/v1';
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'follower' };
    const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
    return [
      { apiVersion, kind: 'Role', metadata, rules: rules.map((rule) => structuredClone(rule)) },
      { apiVersion, kind: 'RoleBinding', metadata, roleRef, subjects },
    ];
  }
});
