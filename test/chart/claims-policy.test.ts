import { beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { ANNOTATION_NOTES, ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import { installKinds } from '../api/install.ts';
import { testCluster, type TestCluster, type TestNamespace } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';
import { Helm, type Rendered } from './chart.ts';

const OWN = Object.entries(ANNOTATIONS)
  .filter(([name]) => ANNOTATION_NOTES[name as keyof typeof ANNOTATIONS].writtenBy === 'operator')
  .map(([, annotation]) => annotation);
const REFUSED = 'only the operator may write this';
const VELERO = 'system:serviceaccount:velero:velero';

const MANIFEST = `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: web}
spec: {connectionRef: {name: main}, boxId: b-1, policyBoxId: p-1}
`;

let cluster: TestCluster;
let helm: Helm;
beforeAll(async () => {
  cluster = testCluster();
  helm = new Helm(cluster);
  await installKinds(cluster);
});

/** A namespace with the policy, and people in it. */
class Place implements AsyncDisposable {
  readonly #namespace: TestNamespace;
  readonly #policies: string;
  readonly operator: string;
  readonly author: string;

  private constructor(namespace: TestNamespace, policies: string) {
    this.#namespace = namespace;
    this.#policies = policies;
    this.operator = `system:serviceaccount:${namespace.name}:boxwright`;
    this.author = `${namespace.name}-author`;
  }

  static async make(): Promise<Place> {
    const namespace = await cluster.namespace('claims');
    const values = {
      namespaces: [namespace.name],
      admissionPolicies: { enabled: false, claims: { enabled: true, exemptUsers: [VELERO] } },
    };
    const objects = await helm.objects(values, '-n', namespace.name);
    const policies = objects
      .filter(({ apiVersion }) => apiVersion.startsWith('admissionregistration.k8s.io/'))
      .map((object) => stringify(object))
      .join('---\n');
    const place = new Place(namespace, policies);
    await cluster.apply(policies);
    const role = ['create', 'role', 'people', '--resource=instances.boxwright.dev', '--verb=*'];
    await place.kubectl(undefined, role);
    for (const user of [place.author, place.operator, VELERO]) {
      const name = user.replaceAll(':', '-');
      await place.kubectl(undefined, ['create', 'rolebinding', name, '--role=people', `--user=${user}`]);
    }
    await eventually('the policy acts', async () => {
      const args = ['create', '--dry-run=server', '-f', '-'];
      return (await place.kubectl(place.author, args, annotated({ [ANNOTATIONS.claim]: 'x' }))).includes(
        REFUSED,
      );
    });
    return place;
  }

  /** What kubectl says, and how it ended where that was not well. */
  async kubectl(as: string | undefined, args: readonly string[], input?: string): Promise<string> {
    const all = [...args, '--namespace', this.#namespace.name, ...(as === undefined ? [] : ['--as', as])];
    const { code, stdout, stderr } = await cluster.kubectl(all, input === undefined ? {} : { input });
    return code === 0 ? stdout : `${code}: ${stderr}`;
  }

  annotate(as: string, ...annotations: string[]): Promise<string> {
    return this.kubectl(as, ['annotate', 'instance', 'web', '--overwrite', ...annotations]);
  }

  async metadata(): Promise<Rendered['metadata'] & { finalizers?: string[]; deletionTimestamp?: string }> {
    return (await cluster.get<Rendered>('instance', 'web', '-n', this.#namespace.name)).metadata;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await cluster.kubectl(['delete', '--wait=false', '--filename', '-'], { input: this.#policies });
    await this.#namespace[Symbol.asyncDispose]();
  }
}

function annotated(annotations: Record<string, string>): string {
  const object = parse(MANIFEST) as Rendered;
  return stringify({ ...object, metadata: { ...object.metadata, annotations } });
}

describe('the policy for claims', { timeout: 120_000 }, () => {
  it('lets nobody but the operator add or change its annotations, and holds up nothing else', async () => {
    await using place = await Place.make();
    const { author, operator } = place;
    expect(OWN.length).toBeGreaterThanOrEqual(4);

    // Nobody brings them along, whichever way a resource is made.
    for (const name of OWN) {
      const forged = annotated({ [name]: 'forged' });
      for (const args of [
        ['create', '-f', '-'],
        ['apply', '-f', '-'],
        ['apply', '--server-side', '-f', '-'],
      ]) {
        const said = await place.kubectl(author, args, forged);
        expect(said).toContain(REFUSED);
        expect(said).toContain(name);
      }
    }
    expect(await place.kubectl(author, ['apply', '-f', '-'], MANIFEST)).toContain('created');
    expect(await place.annotate(author, ...OWN.map((name) => `${name}=forged`))).toContain(REFUSED);
    expect(await place.annotate(author, `${OWN[0]}=`)).toContain(REFUSED);

    // The operator does as ever, finalizer included.
    expect(await place.annotate(operator, ...OWN.map((name) => `${name}=own`))).toContain('annotated');
    const finalizer = JSON.stringify({ metadata: { finalizers: [FINALIZER] } });
    const patch = ['patch', 'instance', 'web', '--type=merge', '-p'];
    expect(await place.kubectl(operator, [...patch, finalizer])).toContain('patched');

    // A manifest without them goes on working, and takes nothing away.
    const changed = MANIFEST.replace('boxId: b-1', 'tags: [eu], boxId: b-1');
    for (const [args, manifest] of [
      [['apply', '-f', '-'], changed],
      [['apply', '--server-side', '--force-conflicts', '-f', '-'], MANIFEST],
    ] as const) {
      expect(await place.kubectl(author, args, manifest)).toMatch(/configured|applied/);
      expect((await place.metadata()).annotations).toMatchObject({ [ANNOTATIONS.claim]: 'own' });
    }
    expect(
      await place.annotate(author, `${ANNOTATIONS.adopt}=i-1`, `${ANNOTATIONS.requestReinstall}=1`),
    ).toContain('annotated');
    expect(await place.kubectl(author, ['label', 'instance', 'web', 'tier=web'])).toContain('labeled');
    for (const name of OWN) expect(await place.annotate(author, `${name}=forged`)).toContain(REFUSED);
    // Messages of the operator advise to take some away.
    expect(await place.annotate(author, `${ANNOTATIONS.externalId}-`, `${ANNOTATIONS.claim}-`)).toContain(
      'annotated',
    );
    expect(await place.annotate(author, `${ANNOTATIONS.claim}=own`)).toContain(REFUSED);
    expect(await place.annotate(operator, `${ANNOTATIONS.claim}=own`)).toContain('annotated');

    // Deletion waits for the operator, and ends with it.
    await place.kubectl(author, ['delete', 'instance', 'web', '--wait=false']);
    const { deletionTimestamp, finalizers } = await place.metadata();
    expect(deletionTimestamp).toBeDefined();
    expect(finalizers).toEqual([FINALIZER]);
    const none = JSON.stringify({ metadata: { finalizers: [] } });
    expect(await place.kubectl(operator, [...patch, none])).toContain('patched');
    await eventually('it is gone', async () =>
      (await place.kubectl(author, ['get', 'instance', 'web'])).includes('NotFound'),
    );
  });

  it('lets whoever brings backups back write them, where the values say so', async () => {
    await using place = await Place.make();
    const backup = annotated(Object.fromEntries(OWN.map((name) => [name, 'kept'])));
    expect(await place.kubectl(place.author, ['create', '-f', '-'], backup)).toContain(REFUSED);
    expect(await place.kubectl(VELERO, ['create', '-f', '-'], backup)).toContain('created');
    // Its author goes on with the manifest that he has.
    expect(await place.kubectl(place.author, ['apply', '-f', '-'], MANIFEST)).toContain('configured');
  });
});
