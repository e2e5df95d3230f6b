import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { Estate, SECRETS, TRAPS } from '../../../../test/cli/estate.ts';
import { sandboxPort } from '../../../../test/support/sandbox-port.ts';
import { CONNECTION, ENDPOINT, NAMESPACE, World } from '../../../../test/support/world.ts';
import { SecretSet } from '../../../base/masking/secret-set.ts';
import { ConnectionKind } from '../../../api/connection.ts';
import type { KindName } from '../../../api/kinds.ts';
import { createServiceClient } from '../../../service/index.ts';
import { MANIFEST_YAML } from '../../manifest-yaml.ts';
import type { Service } from '../service.ts';
import type { Import, Present } from './draw.ts';
import { importFrom } from './run.ts';
import { treeOf, type Tree } from './tree.ts';

const ALL: ReadonlySet<KindName> = new Set<KindName>(['Box', 'PolicyBox', 'Instance']);

interface Found {
  imported: Import;
  tree: Tree;
}

let world: World;
beforeEach(() => {
  world = new World({ sandbox: { durations: { deploy: 10, shutdown: 10, terminate: 10 } } });
});
afterEach(() => world.stop());

/** Everything that the embedded service of the world has, through a client of our own. */
async function found(
  more: { present?: Present; kinds?: ReadonlySet<KindName>; name?: string } = {},
): Promise<Found> {
  const { kinds = ALL, name = '*', present = {} } = more;
  const spec = { endpoint: ENDPOINT, credentialsRef: { name: 'deploy-login' } };
  const metadata = { name: 'main', namespace: NAMESPACE, uid: '-', resourceVersion: '-', generation: 1 };
  const stored = { metadata: { ...metadata, creationTimestamp: '2026-01-01T00:00:00Z' }, spec };
  const parsed = ConnectionKind.parse(stored);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const secrets = new SecretSet();
  const client = createServiceClient({
    secrets,
    port: sandboxPort(world.sandbox),
    credentials: { kind: 'token', token: 'token-of-ops' },
    pace: { requestsPerSecond: 10_000, burst: 10_000 },
    clock: world.clock,
    random: () => 0.5,
  });
  const { schemaBase } = world.sandbox;
  const service: Service = {
    connection: parsed.resource,
    client,
    secrets,
    endpoint: ENDPOINT,
    workspace: 'ops',
    schemaBase,
  };
  const { signal } = new AbortController();
  const imported = await importFrom(service, { workspace: undefined, kinds, name }, { present, signal });
  client.close();
  return { imported, tree: treeOf(imported, { namespace: NAMESPACE, connection: 'main' }) };
}

const manifestsOf = (tree: Tree): string =>
  [...tree]
    .filter(([path]) => path.includes('/'))
    .map(([, text]) => text)
    .join('---\n');

describe('an import', () => {
  beforeEach(async () => {
    await new Estate(world.sandbox, 'token-of-ops').build(() => world.advance(1_000));
  });

  it('has a manifest for each record that can be declared, and a line for each other one', async () => {
    const { imported, tree } = await found();
    const count = (kind: string): number =>
      imported.resources.filter(({ sketch }) => sketch.kind === kind).length;
    expect([count('Box'), count('PolicyBox'), count('Instance')]).toEqual([10, 4, 15]);
    expect(imported.leftOut.map((line) => line.replace(/ \(.*?\)/, ''))).toEqual([
      'Instance "machine 2": it is terminated: only its record and logs are left',
      expect.stringContaining('Organization "public"') as string,
      expect.stringContaining('Provider "Test Provider"') as string,
      expect.stringContaining('Workspace "ops"') as string,
      expect.stringContaining('Workspace "shop"') as string,
    ]);
    const names = imported.resources.map(({ sketch }) => `${sketch.kind}/${sketch.name}`);
    expect(new Set(names).size).toBe(names.length);
    expect(tree.get('kustomization.yaml')).toContain('- boxes/web-app.yaml');
    expect([...tree.keys()].every((path) => /^[a-z]+\/[a-z0-9-]+\.yaml$|^[A-Za-z.]+$/.test(path))).toBe(true);
  });

  it('says what was there, word for word, to whatever reads YAML', async () => {
    const { tree } = await found();
    for (const options of [MANIFEST_YAML, { version: '1.2' as const }]) {
      const text = tree.get('boxes/traps.yaml') ?? '';
      const { spec } = parse(text, options) as { spec: { variables: { value: string }[] } };
      expect(spec.variables.map(({ value }) => value)).toEqual(TRAPS);
    }
    // Nothing in it moves the cursor or turns the text around.
    for (const text of tree.values()) expect(text).not.toMatch(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/u);
  });

  it('has no secret in any file, and lists each to be filled in', async () => {
    const { imported, tree } = await found();
    for (const text of tree.values()) {
      expect(text).not.toContain(SECRETS.DB_PASSWORD);
      expect(text).not.toContain(SECRETS['runtime.TOKEN']);
      expect(text).not.toContain('key-of-the-estate');
    }
    const secrets = imported.resources.flatMap(({ sketch }) => sketch.secrets);
    expect(secrets.map(({ secret, key }) => `${secret} ${key}`).toSorted()).toEqual([
      'box-web-app-secrets DB_PASSWORD',
      'box-web-app-secrets KEY',
      'instance-web-eu-secrets API_KEY',
      'instance-web-eu-secrets DB_PASSWORD',
      'instance-web-eu-secrets runtime.TOKEN',
    ]);
    for (const { secret, key } of secrets) {
      expect(tree.get('IMPORT.md')).toContain(`-n shop ${secret} `);
      expect(tree.get('IMPORT.md')).toContain(`--from-literal=${key}=…`);
    }
  });

  it('drops nothing in silence', async () => {
    const { imported } = await found();
    const remarks = (kind: string, id: string): string =>
      imported.resources
        .find(({ sketch }) => sketch.kind === kind && sketch.name === id)
        ?.sketch.remarks.join('\n') ?? '';
    expect(remarks('Box', 'unnamed')).toContain('spec.variables: "has space" is not declared');
    expect(remarks('Box', 'unnamed')).toContain('spec.variables: "ODD" is not declared');
    expect(remarks('Instance', 'web-eu')).toContain('its lease (Shutdown at 2099-01-01T00:00:00Z) stays');
    expect(remarks('PolicyBox', 'policy')).toContain('visibility "public"');
  });

  it('when applied puts a marker on each instance, and nothing else on the service', async () => {
    const { imported, tree } = await found();
    world.start();
    await world.apply(CONNECTION);
    await world.until(() => world.ready('Connection', 'main') === 'True');
    for (const { sketch } of imported.resources) {
      const data = Object.fromEntries(
        sketch.secrets.map(({ key }) => [key, SECRETS[key as keyof typeof SECRETS] ?? 'a key']),
      );
      const [first] = sketch.secrets;
      if (first !== undefined) {
        const secret = {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: first.secret },
          stringData: data,
        };
        await world.apply(JSON.stringify(secret));
      }
    }
    world.sandbox.admin.clearCalls();
    await world.apply(manifestsOf(tree));
    const waits = (): string[] =>
      imported.resources
        .filter(({ sketch }) => world.ready(sketch.kind, sketch.name) !== 'True')
        .map(
          ({ sketch }) =>
            `${sketch.kind}/${sketch.name} ${JSON.stringify(world.condition(sketch.kind, sketch.name, 'Ready'))}`,
        );
    await world.until(() => waits().length === 0);
    // Long after it has settled, and after a restart, too.
    await world.advance(700_000);
    await world.stop();
    world.start();
    await world.advance(700_000);
    const writes = world.sandbox.admin.calls().filter(({ method }) => method !== 'GET');
    const instances = imported.resources.filter(({ sketch }) => sketch.kind === 'Instance');
    expect(writes.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      instances.map(({ sketch }) => `PUT /services/instances/${sketch.id}`).toSorted(),
    );
  });

  it('is the same text a second time, also once it was applied', async () => {
    const first = await found();
    expect([...(await found()).tree]).toEqual([...first.tree]);
    world.start();
    await world.apply(CONNECTION);
    await world.apply(manifestsOf(first.tree));
    await world.until(() => world.ready('Instance', 'machine-4') === 'True');
    const ids = (kind: KindName): Map<string, string | undefined> =>
      new Map(world.list(kind).map(({ metadata, status }) => [metadata.name, status?.id]));
    const present = { Box: ids('Box'), PolicyBox: ids('PolicyBox'), Instance: ids('Instance') };
    expect([...(await found({ present })).tree]).toEqual([...first.tree]);
  });

  it('refers by id to what is not part of it and no resource of the namespace', async () => {
    const { tree } = await found({ kinds: new Set(['Instance']), name: 'machine 1*' });
    expect([...tree.keys()].filter((path) => path.includes('/'))).toEqual([
      'instances/machine-1.yaml',
      'instances/machine-10.yaml',
      'instances/machine-11.yaml',
      'instances/machine-12.yaml',
      'instances/machine-13.yaml',
      'instances/machine-14.yaml',
    ]);
    expect(tree.get('instances/machine-10.yaml')).toMatch(/boxId: \S+\n {2}policyBoxId: \S+/);
  });
});
