import { ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import { apiVersionOf } from '../../src/kube/index.ts';
import type { PortAnswer, PortRequest } from '../../src/service/index.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import { CONNECTION, NAMESPACE, typeOfKind, type Shown, type World } from '../support/world.ts';
import { installationOf } from './own.ts';

/** Where the neighbour may edit everything. */
export const NEIGHBOURS = 'default';
const KINDS = ['Box', 'PolicyBox', 'Instance'] as const;
type Kind = (typeof KINDS)[number];
/** Against each resource of ours there are so many attacks in one run. */
const ATTACKS = 6;
/** He was there first. */
const LONG_AGO = '2025-01-01T00:00:00Z';
const STOLEN = [ANNOTATIONS.externalId, ANNOTATIONS.claim, ANNOTATIONS.claimSeal, ANNOTATIONS.createIntent];

/**
 * Somebody with the right to edit another namespace, and with the account that ours has on the service. Whenever one
 * of our resources says something else about its record, he writes the same on older resources of his own: one with
 * everything copied as it is, and two with the claim made out to themselves, of which one has no connection. When ours is
 * deleted, he deletes them.
 */
export class Neighbour {
  readonly #world: World;
  readonly #token: string;
  readonly #attacks = new Map<string, number>();
  readonly #records = new Set<string>();

  private constructor(world: World, token: string) {
    this.#world = world;
    this.#token = token;
  }

  static async moveIn(world: World): Promise<Neighbour> {
    const neighbour = new Neighbour(world, world.sandbox.admin.issueToken('ops@example.com'));
    await world.apply(
      CONNECTION.replaceAll('metadata: {', `metadata: {namespace: ${NEIGHBOURS}, `).replace(
        'token-of-ops',
        neighbour.#token,
      ),
    );
    world.kube.store.listen(({ resource, object, before }) => {
      const kind = KINDS.find((one) => one === object['kind']);
      if (kind === undefined || object.metadata.namespace !== NAMESPACE) return;
      const is: Shown = object as never;
      if (before !== undefined && saidBy(is) === saidBy(before as never)) return;
      const key = `${resource}/${is.metadata.name}`;
      const attacks = (neighbour.#attacks.get(key) ?? 0) + 1;
      neighbour.#attacks.set(key, attacks);
      if (attacks <= ATTACKS) world.clock.setTimer(1, () => neighbour.#attack(kind, is));
    });
    return neighbour;
  }

  /** Whether it is for him that the operator asks the service. */
  isCall({ headers }: Pick<PortRequest, 'headers'>): boolean {
    return headers['service-token'] === this.#token;
  }

  /** Hears what the service answers him. */
  heard({ method, path }: PortRequest, { body }: PortAnswer): void {
    if (method !== 'POST' || !/^\/services\/(boxes|instances)$/.test(path)) return;
    const id = /"id":\s*"([^"]+)"/.exec(Buffer.from(body).toString())?.[1];
    if (id !== undefined) this.#records.add(id);
  }

  /** How often he has attacked. */
  get attacks(): number {
    return this.#attacks.values().reduce((sum, count) => sum + Math.min(count, ATTACKS), 0);
  }

  /** Whether a record was made for him. */
  has(id: string): boolean {
    return this.#records.has(id);
  }

  #attack(kind: Kind, { metadata, spec, status }: Shown): void {
    const annotations = Object.fromEntries(
      STOLEN.flatMap((name) => {
        const value = metadata.annotations?.[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
    const { boxRef: _box, policyBoxRef: _policyBox, leaseRef: _lease, variables: _variables, ...rest } = spec;
    const refs =
      kind === 'Instance' ? { boxRef: { name: 'copy-runtime' }, policyBoxRef: { name: 'copy-small' } } : {};
    const adopt = status?.id === undefined ? {} : { [ANNOTATIONS.adopt]: status.id };
    this.#write(kind, `copy-${metadata.name}`, metadata, {
      annotations: { ...annotations, ...adopt },
      finalizers: [],
      spec: { ...rest, ...refs, connectionRef: { name: 'main' } },
    });
    for (const [prefix, connection] of [
      ['lone', 'nowhere'],
      ['keen', 'main'],
    ]) {
      const name = `${prefix}-${metadata.name}`;
      const own = this.#own(kind, name)?.metadata.uid ?? 'a-uid-of-his';
      const installation = installationOf(this.#world) ?? '';
      const marker = markerOf(installation, { kind, namespace: NEIGHBOURS, name });
      this.#write(kind, name, metadata, {
        annotations: {
          ...annotations,
          [ANNOTATIONS.claim]: `${installation}/${marker}/${own}`,
          ...(status?.id === undefined ? {} : { [ANNOTATIONS.externalId]: status.id }),
        },
        finalizers: [FINALIZER],
        spec: { ...rest, ...refs, connectionRef: { name: connection } },
      });
    }
  }

  #write(
    kind: Kind,
    name: string,
    ours: Shown['metadata'],
    his: { annotations: Record<string, string>; finalizers: string[]; spec: object },
  ): void {
    const type = typeOfKind(kind);
    const before = this.#own(kind, name);
    const path = `/apis/${apiVersionOf(type)}/namespaces/${NEIGHBOURS}/${type.plural}`;
    if (before === undefined) {
      if (ours.deletionTimestamp !== undefined) return;
      const { annotations, finalizers, spec } = his;
      const metadata = { namespace: NEIGHBOURS, name, creationTimestamp: LONG_AGO, annotations, finalizers };
      this.#world.kube.seed(type, { metadata, spec });
    } else if (ours.deletionTimestamp === undefined) {
      const patch = { metadata: { annotations: his.annotations } };
      this.#world.kube.handle({
        method: 'PATCH',
        path: `${path}/${name}`,
        query: { fieldManager: 'neighbour' },
        contentType: 'application/merge-patch+json',
        body: patch,
      });
    } else {
      this.#world.kube.handle({ method: 'DELETE', path: `${path}/${name}` });
    }
  }

  #own(kind: Kind, name: string): Shown | undefined {
    const stored = this.#world.kube.get(typeOfKind(kind), { namespace: NEIGHBOURS, name });
    return stored as unknown as Shown | undefined;
  }
}

/** What a resource says about its record, and whether it goes. */
function saidBy({ metadata, status }: Shown): string {
  const { annotations, deletionTimestamp } = metadata;
  return JSON.stringify([STOLEN.map((name) => annotations?.[name]), status?.id, deletionTimestamp]);
}
