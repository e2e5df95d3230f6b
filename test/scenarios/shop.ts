import type { ObjectRef } from '../../src/kube/index.ts';
import { KIND_NAMES, type KindName } from '../../src/api/kinds.ts';
import type { PortAnswer, PortRequest, ServicePort } from '../../src/service/index.ts';
import { CONNECTION, NAMESPACE, typeOfKind, World, type Shown, type WorldOptions } from '../support/world.ts';

/** A Box and a PolicyBox for instances. */
export const BOXES = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  variables:
    - {name: PORT, type: Port, value: '8080'}
    - {name: GREETING, type: Text}
    - {name: CONF, type: File}
    - {name: ADMIN, type: Password}
    - {name: DB_PASSWORD, type: Password}
  events:
    install: {inline: "#!/bin/bash\\necho installed"}
    configure: {inline: "#!/bin/bash\\necho configured"}
---
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  providerId: 00000000-0000-4000-8000-000000000001
  claims: [Linux]
  profile: {schema: test/compute/profile, properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}}
`;

/** The manifest of an Instance of that box; `spec` is further YAML, indented by two. */
export function instance(spec = '', name = 'web-eu', annotations = '{}'): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: ${name}, annotations: ${annotations}}
spec:
  connectionRef: {name: main}
  boxRef: {name: web}
  policyBoxRef: {name: small}
${spec}
`;
}

/** The manifest of an InstanceLease for `web-eu`. */
export function leaseOf(name: string, spec: string): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: ${name}}
spec: {instanceRef: {name: web-eu}, ${spec}}
`;
}

/** What these tests read of an Instance's status. */
export interface InstanceStatus {
  id?: string;
  state?: string;
  operation?: { event: string };
  phase?: string;
  armed?: string;
  appliedHash?: string;
  lastOperation?: { event: string; outcome: string; message?: string };
  currentOperation?: { event: string };
  handledRequests?: Record<string, string>;
  lease?: { operation: string; expire?: string; released: boolean; by?: string; source?: { name: string } };
  releasedExpire?: string;
  drift?: { field: string; want: string; have: string }[];
}

/** A record as the embedded service stores it. */
export interface StoredInstance {
  id: string;
  state: string;
  updated: string;
  operation: { event: string };
  tags: string[];
  variables: { name: string; type: string; value?: string; scope?: string }[];
  lease?: { operation: string; expire: string; released: boolean };
}

/** A world with a connection and boxes in place, and short words for what tests ask of it. */
export class Shop {
  readonly world: World;
  /** Answers calls to the service in its stead; undefined lets them through. */
  judge: (request: PortRequest) => PortAnswer | undefined | Promise<PortAnswer | undefined> = () => undefined;
  /** Changes what the service is sent. */
  alter: (request: PortRequest) => PortRequest = (request) => request;
  /** Changes what the service has answered. */
  spoil: (request: PortRequest, given: PortAnswer) => PortAnswer = (_request, given) => given;

  /** Waits before an answer of the service is given. */
  after: () => Promise<void> = () => Promise.resolve();

  constructor(options: WorldOptions = {}) {
    this.world = new World({
      ...options,
      servicePort: (port: ServicePort) => ({
        send: async (request) => {
          const judged = await this.judge(request);
          if (judged !== undefined) return judged;
          const given = this.spoil(request, await port.send(this.alter(request)));
          await this.after();
          return given;
        },
      }),
    });
  }

  /** Starts the operator and waits until the boxes are in place. */
  static async open(options: WorldOptions = {}): Promise<Shop> {
    const shop = new Shop(options);
    const { world } = shop;
    world.start();
    await world.apply(CONNECTION);
    await world.apply(BOXES);
    await world.until(
      () => world.ready('Box', 'web') === 'True' && world.ready('PolicyBox', 'small') === 'True',
    );
    return shop;
  }

  /** Ends the world; throws what its judges have found. */
  async close(): Promise<void> {
    this.world.kill();
    this.world.judges.end();
    await this.world.sandbox.stop();
    const said = this.world.judges.said();
    if (said.length > 0) throw new Error(`the judges object:\n${said.join('\n')}`);
  }

  status(name = 'web-eu'): InstanceStatus {
    return this.world.get('Instance', name)?.status ?? {};
  }

  /** Ready's status and reason, as `True Settled`. */
  ready(name = 'web-eu', kind: KindName = 'Instance'): string {
    const { world } = this;
    return `${world.ready(kind, name)} ${world.condition(kind, name, 'Ready')?.reason}`;
  }

  message(name = 'web-eu', kind: KindName = 'Instance'): string {
    return this.world.condition(kind, name, 'Ready')?.message ?? '';
  }

  /** All instance records. */
  records(): StoredInstance[] {
    return this.world.sandbox.admin.records('instances') as unknown as StoredInstance[];
  }

  record(id = this.status().id): StoredInstance {
    const found = this.records().find((record) => record.id === id);
    if (found === undefined) throw new Error(`no record ${id}`);
    return found;
  }

  pair(): string {
    const { state, operation } = this.record();
    return `${state}+${operation.event}`;
  }

  online(name = 'web-eu'): Promise<void> {
    return this.world.until(
      () => this.ready(name) === 'True Settled' && this.status(name).phase === 'Online',
      3 * 3_600_000,
    );
  }

  /** Makes an instance, waits until it is online and lets it go: answers the id of the record that stays. */
  async leftBehind(spec = ''): Promise<string> {
    await this.world.apply(instance(`  deletionPolicy: Orphan\n${spec}`));
    await this.online();
    const { id } = this.record();
    await this.world.delete('Instance', 'web-eu');
    await this.gone();
    return id;
  }

  isGone(name = 'web-eu'): boolean {
    return this.world.get('Instance', name) === undefined;
  }

  gone(name = 'web-eu'): Promise<void> {
    return this.world.until(() => this.isGone(name), 3 * 3_600_000);
  }

  /** The newest call so far: for {@link writes}. */
  mark(): number {
    return this.world.sandbox.admin.calls().at(-1)?.seq ?? 0;
  }

  /** Calls that were more than reads, as `PUT reinstall`, `DELETE ?operation=terminate`, `POST`. */
  writes(since: number): string[] {
    return this.world.sandbox.admin
      .calls({ since })
      .filter(({ method }) => method !== 'GET')
      .map(({ method, route, path }) => {
        const last = path.replace(/^\/services\/(instances|boxes)(\/[^/?]*)?\/?/, '');
        return `${method} ${route.startsWith('/services/instances') ? '' : `${route.split('/')[2]} `}${last}`.trim();
      });
  }

  /** A call that a person makes with the same account. */
  async byHand(method: string, path: string, body?: object): Promise<number> {
    const given = await this.world.sandbox.handle({
      method,
      path,
      headers: { 'service-token': 'token-of-ops', 'content-type': 'application/json' },
      body: body === undefined ? new Uint8Array() : Buffer.from(JSON.stringify(body)),
    });
    return given.status;
  }

  /** Stores a resource unchecked, as a definition of another version would have let it in. */
  seed(kind: KindName, object: Shown): void {
    const { metadata, ...rest } = object;
    this.world.kube.seed(typeOfKind(kind), {
      ...rest,
      metadata: { ...metadata, namespace: NAMESPACE, generation: metadata.generation + 1 } as ObjectRef,
    });
  }

  /** Takes a backup of what the cluster holds; the answer brings it back, as a restore of etcd does. */
  backup(): () => void {
    const { kube } = this.world;
    const types = [...KIND_NAMES, 'Secret' as const].map((kind) => typeOfKind(kind));
    const held = types.map((type) => [type, kube.list(type)] as const);
    return () => {
      for (const [type, objects] of held) {
        for (const { metadata } of kube.list(type)) {
          if (!objects.some((object) => object.metadata.uid === metadata.uid)) kube.purge(type, metadata);
        }
        for (const object of objects) kube.seed(type, object);
      }
    };
  }

  /** Ends the operator at once and starts another. */
  restart(): void {
    this.world.kill();
    this.world.start();
  }
}

/** An answer of the service. */
export function answer(status: number, body: unknown, headers: Record<string, string> = {}): PortAnswer {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** An answer with another body. */
export function changed(given: PortAnswer, change: (body: never) => unknown): PortAnswer {
  const body = JSON.parse(Buffer.from(given.body).toString('utf8')) as never;
  return { ...given, body: Buffer.from(JSON.stringify(change(body))) };
}

/** What the service shows of instances, singly and in lists, with each record changed. */
export function changedInstances(
  { path }: PortRequest,
  given: PortAnswer,
  change: (record: never) => unknown,
): PortAnswer {
  if (given.status !== 200 || given.body.byteLength === 0) return given;
  if (/^\/services\/instances\/[^/?]+$/.test(path)) return changed(given, change);
  if (!/^\/services\/workspaces\/[^/]+\/instances(\?.*)?$/.test(path)) return given;
  return changed(given, (records: never[]) => records.map(change));
}

/** A request with members of its body changed. */
export function changedRequest(request: PortRequest, members: object): PortRequest {
  const body = JSON.parse(Buffer.from(request.body ?? '{}').toString('utf8')) as object;
  return { ...request, body: Buffer.from(JSON.stringify({ ...body, ...members })) };
}

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
