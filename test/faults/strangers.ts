import { TEST_PROVIDER_ID, type Sandbox } from '../../src/sandbox/index.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import { canonicalJson } from '../../src/base/hash.ts';
import type { Stage } from './stage.ts';

/** The kinds and names of the resources that the workloads make, for names and markers that look alike. */
export const OURS = { boxes: ['runtime', 'web'], policyBoxes: ['small'], instances: ['web-eu'] } as const;

/** Records of other people, as they were when they were made. */
export interface Strangers {
  /** What became of them that should not have. */
  touched(): string[];
  /** Whether a record is a stranger's. */
  has(id: string): boolean;
}

/**
 * Fills the service with records that are easily taken for ours: equal names in another workspace and, where
 * names need not be unique, in the same one; markers of another installation, with a character too many or too
 * few, in capitals; our very markers in a workspace that is not ours; and a terminated instance with our marker
 * in our own workspace, which is an earlier life of the resource that nobody asked to be touched.
 */
export async function seedStrangers(
  { sandbox, namespace }: Pick<Stage, 'sandbox' | 'namespace'>,
  installationId: string,
  /** Lets the operations on the service end. */
  idle: () => Promise<void>,
): Promise<Strangers> {
  const token = sandbox.admin.issueToken('ops@example.com');
  const team = sandbox.credentials.teams[0] ?? '';
  const own = sandbox.credentials.workspace;
  const base = sandbox.schemaBase;
  const ids = new Set<string>();
  const call = async (method: string, path: string, body?: object): Promise<{ id: string }> => {
    const answer = await sandbox.handle({
      method,
      path,
      headers: {
        'service-token': token,
        'service-release': '4.0',
        'content-type': 'application/json',
      },
      body: body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body)),
    });
    const text = Buffer.from(answer.body).toString();
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    const record = (text === '' ? { id: '' } : JSON.parse(text)) as { id: string };
    if (record.id !== '') ids.add(record.id);
    return record;
  };
  const script = (name: string, owner: string): Promise<{ id: string }> =>
    call('POST', '/services/boxes', { schema: `${base}/boxes/script`, name, owner, requirements: ['Linux'] });
  const policy = (name: string, owner: string): Promise<{ id: string }> =>
    call('POST', '/services/boxes', {
      schema: `${base}/boxes/policy`,
      name,
      owner,
      provider_id: TEST_PROVIDER_ID,
      claims: [],
      profile: {
        schema: `${base}/test/compute/profile`,
        image: 'test',
        flavor: 'test.micro',
        location: 'Simulated Location',
        keypair: 'test_keypair',
        instances: 1,
      },
    });
  const marker = (kind: string, name: string): string => markerOf(installationId, { kind, namespace, name });

  for (const name of OURS.boxes) {
    await script(name, team);
    await script(marker('Box', name), team);
    for (const alike of lookalikes(marker('Box', name))) await script(alike, own);
  }
  for (const name of OURS.policyBoxes) {
    await policy(name, team);
    for (const alike of lookalikes(marker('PolicyBox', name))) await policy(alike, own);
  }
  const box = await script('a stranger', own);
  const place = await policy('a strange place', own);
  const deploy = (name: string, owner: string, tags: readonly string[]): Promise<{ id: string }> =>
    call('POST', '/services/instances', {
      schema: `${base}/deploy-instance-request`,
      owner,
      name,
      box: { id: box.id },
      policy_box: { id: place.id },
      instance_tags: tags,
    });
  for (const name of OURS.instances) {
    const mine = marker('Instance', name);
    await deploy(name, own, []);
    await deploy(name, own, lookalikes(mine));
    await deploy(mine, own, []);
    await deploy(name, team, [mine]);
    const earlier = await deploy(name, own, [mine]);
    await idle();
    await call('DELETE', `/services/instances/${earlier.id}?operation=terminate`);
  }
  await idle();
  const before = new Map(look(sandbox).filter(([key]) => ids.has(key.split('/')[1] ?? '')));
  return {
    has: (id) => ids.has(id),
    touched() {
      const now = new Map(look(sandbox));
      return [...before].flatMap(([key, record]) => {
        const there = now.get(key);
        if (there === undefined) return [`${key} of a stranger is gone`];
        return there === record ? [] : [`${key} of a stranger was changed: ${record} became ${there}`];
      });
    },
  };
}

function lookalikes(marker: string): string[] {
  const other = `bw-aaaaaaaa-${marker.split('-')[2] ?? ''}`;
  return [`${marker}x`, `x${marker}`, marker.slice(0, -1), marker.toUpperCase(), other];
}

function look({ admin }: Sandbox): [string, string][] {
  const operations = (id: string): unknown[] =>
    admin.records('operations').filter((operation) => (operation as { instance?: string }).instance === id);
  return [
    ...admin.records('boxes').map((box): [string, string] => [`boxes/${box.id}`, canonicalJson(box)]),
    ...admin
      .records('instances')
      .map((instance): [string, string] => [
        `instances/${instance.id}`,
        canonicalJson([instance, operations(instance.id)]),
      ]),
  ];
}
