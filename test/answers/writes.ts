import type {
  InstanceOperationName,
  PortRequest,
  ServiceClient,
  Write as Written,
} from '../../src/service/index.ts';
import { changedRequest, HOUR, instance, type Shop } from '../scenarios/shop.ts';

/** One write of the operator: what brings it about, and how it is told from other calls. */
export interface Write {
  name: string;
  before?: (shop: Shop) => Promise<unknown>;
  act: (shop: Shop) => Promise<unknown>;
  is: (request: PortRequest) => boolean;
  /** Something of the same instance that does not need this call. */
  other?: { act: (shop: Shop) => Promise<unknown>; done: (shop: Shop) => boolean };
  /** Its answer is a record: it can show something else than was sent. */
  record?: true;
}

/** Calls of the client that write, of every family that it has. */
type WritesOf<Client> = {
  [Family in keyof Client & string]: {
    [Name in keyof Client[Family] & string]: Client[Family][Name] extends (
      ...args: never[]
    ) => Promise<Written<unknown>>
      ? `${Family}.${Name}`
      : never;
  }[keyof Client[Family] & string];
}[keyof Client & string];

/** Every call of the client that writes, but the one that no controller makes. */
type WriteCall = Exclude<WritesOf<ServiceClient>, 'instances.pull'>;

const BOX = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: tools}
spec: {connectionRef: {name: main}, description: Tools, events: {install: {inline: "echo one"}}}
`;
const POLICY_BOX = `
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: large}
spec:
  connectionRef: {name: main}
  providerId: 00000000-0000-4000-8000-000000000001
  description: Large
  profile: {schema: test/compute/profile, properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 2}}
`;
const ICON = '{apiVersion: v1, kind: ConfigMap, metadata: {name: icons}, binaryData: {a.png: aWNvbg==}}';
const PORT = '  variables: [{name: PORT, type: Port, value: "80"}]\n';
const port = (value: string): object => ({ variables: [{ name: 'PORT', type: 'Port', value }] });

const on =
  (method: string, path: RegExp) =>
  (request: PortRequest): boolean =>
    request.method === method && path.test(request.path);
const isVersion = ({ body }: PortRequest): boolean => Buffer.from(body ?? '').includes('"version":{');
const online = async (shop: Shop): Promise<void> => {
  await shop.world.apply(instance(PORT));
  await shop.online();
};
const edit = (shop: Shop, spec: object): Promise<void> => shop.world.edit('Instance', 'web-eu', spec);
const request = (shop: Shop, operation: string): Promise<void> =>
  shop.world.annotate('Instance', 'web-eu', { [`boxwright.dev/request-${operation}`]: '1' });
const made =
  (kind: 'Box' | 'PolicyBox', name: string, manifest: string) =>
  async (shop: Shop): Promise<void> => {
    await shop.world.apply(manifest);
    await shop.world.until(() => shop.world.ready(kind, name) === 'True');
  };
const tagged: Write['other'] = {
  act: (shop) => edit(shop, { tags: ['other'] }),
  done: (shop) => shop.record().tags.includes('other'),
};
/** The end of a lease that the service does not keep. */
const endOf = (operation: string): Omit<Write, 'name' | 'is'> => ({
  before: async (shop) => {
    shop.alter = (sent) =>
      sent.method === 'PUT' && /^\/services\/instances\/[^/]+$/.test(sent.path)
        ? changedRequest(sent, { lease: undefined })
        : sent;
    await online(shop);
  },
  act: (shop) => edit(shop, { lease: { operation, after: '10m' } }),
  other: tagged,
});
const remove = (shop: Shop): Promise<void> => shop.world.delete('Instance', 'web-eu');

const stopped: Write['other'] = {
  act: (shop) => edit(shop, { powerState: 'Stopped' }),
  done: (shop) => shop.status().phase === 'ShutDown',
};

const OPERATIONS: Readonly<Record<InstanceOperationName, Omit<Write, 'name' | 'is'>>> = {
  reconfigure: { before: online, act: (shop) => edit(shop, port('81')), other: stopped },
  reinstall: { before: online, act: (shop) => request(shop, 'reinstall'), other: stopped },
  shutdown: { before: online, act: (shop) => edit(shop, { powerState: 'Stopped' }), other: tagged },
  poweron: {
    before: async (shop) => {
      await shop.world.apply(instance('  powerState: Stopped'));
      await shop.world.until(() => shop.ready() === 'True ShutDown', HOUR);
    },
    act: (shop) => edit(shop, { powerState: 'Running' }),
    other: tagged,
  },
  deploy: {
    before: async (shop) => {
      shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'fail', times: 1 });
      await shop.world.apply(instance());
      await shop.world.until(() => shop.ready() === 'False OperationFailed', HOUR);
    },
    act: (shop) => request(shop, 'redeploy'),
    other: tagged,
  },
};

/** What brings about each write of the client. */
const BY_CALL: Readonly<Record<WriteCall, readonly Write[]>> = {
  'boxes.create': [
    {
      name: 'POST of a box',
      act: (shop) => shop.world.apply(BOX),
      is: on('POST', /^\/services\/boxes$/),
      record: true,
    },
    {
      name: 'POST of a policy box',
      act: (shop) => shop.world.apply(POLICY_BOX),
      is: on('POST', /^\/services\/boxes$/),
      record: true,
    },
  ],
  'boxes.update': [
    {
      name: 'PUT of a box',
      act: (shop) => shop.world.apply(BOX),
      is: on('PUT', /^\/services\/boxes\/[^/]+$/),
      record: true,
    },
    {
      name: 'PUT of members',
      before: made('Box', 'tools', BOX),
      act: (shop) => shop.world.edit('Box', 'tools', { members: [{ workspace: 'shop', role: 'Read' }] }),
      is: on('PUT', /^\/services\/boxes\/[^/]+$/),
    },
    {
      name: 'PUT of a policy box',
      before: made('PolicyBox', 'large', POLICY_BOX),
      act: (shop) => shop.world.edit('PolicyBox', 'large', { description: 'Larger' }),
      is: on('PUT', /^\/services\/boxes\/[^/]+$/),
      record: true,
    },
  ],
  'boxes.publish': [
    {
      name: 'PUT of a version',
      before: made('Box', 'tools', BOX),
      act: (shop) => shop.world.edit('Box', 'tools', { publish: { version: '1.0.0' } }),
      is: (call) => on('PUT', /^\/services\/boxes\/[^/]+$/)(call) && isVersion(call),
      other: {
        act: (shop) => shop.world.edit('Box', 'tools', { members: [{ workspace: 'shop', role: 'Read' }] }),
        done: ({ world }) => JSON.stringify(world.sandbox.admin.records('boxes')).includes('"role":"read"'),
      },
    },
  ],
  'boxes.remove': [
    {
      name: 'DELETE of a box',
      before: made('Box', 'tools', BOX),
      act: (shop) => shop.world.delete('Box', 'tools'),
      is: on('DELETE', /^\/services\/boxes\//),
    },
    {
      name: 'DELETE of a policy box',
      before: made('PolicyBox', 'large', POLICY_BOX),
      act: (shop) => shop.world.delete('PolicyBox', 'large'),
      is: on('DELETE', /^\/services\/boxes\//),
    },
  ],
  'blobs.uploadRaw': [
    { name: 'upload for a box', act: (shop) => shop.world.apply(BOX), is: on('POST', /^\/services\/blobs/) },
    {
      name: 'upload of an icon',
      before: async (shop) => {
        await shop.world.apply(ICON);
        await made('Box', 'tools', BOX)(shop);
      },
      act: (shop) =>
        shop.world.edit('Box', 'tools', { icon: { configMapKeyRef: { name: 'icons', key: 'a.png' } } }),
      is: on('POST', /^\/services\/blobs/),
    },
    {
      name: 'upload for a deploy',
      act: (shop) => shop.world.apply(instance('  variables: [{name: CONF, type: File, file: {inline: a}}]')),
      is: on('POST', /^\/services\/blobs/),
    },
    {
      name: 'upload for an instance',
      before: online,
      act: (shop) => edit(shop, { variables: [{ name: 'CONF', type: 'File', file: { inline: 'a' } }] }),
      is: on('POST', /^\/services\/blobs/),
      other: stopped,
    },
  ],
  'instances.deploy': [
    {
      name: 'POST of an instance',
      act: (shop) => shop.world.apply(instance('  tags: [Web]')),
      is: on('POST', /^\/services\/instances$/),
      record: true,
    },
  ],
  'instances.update': [
    {
      name: 'PUT of an instance',
      before: online,
      act: (shop) => edit(shop, port('81')),
      is: on('PUT', /^\/services\/instances\/[^/]+$/),
      other: stopped,
      record: true,
    },
    {
      name: 'PUT of a tag',
      before: online,
      act: (shop) => edit(shop, { tags: ['Web'] }),
      is: on('PUT', /^\/services\/instances\/[^/]+$/),
      other: stopped,
      record: true,
    },
    {
      name: 'PUT of a lease',
      before: online,
      act: (shop) => edit(shop, { lease: { operation: 'Shutdown', after: '80h' } }),
      is: on('PUT', /^\/services\/instances\/[^/]+$/),
      other: stopped,
    },
  ],
  'instances.operate': [
    ...Object.entries(OPERATIONS).map(([name, how]) => ({
      ...how,
      name,
      is: on('PUT', new RegExp(`/${name}$`)),
    })),
    { ...endOf('Shutdown'), name: 'shutdown at a lease’s end', is: on('PUT', /\/shutdown$/) },
  ],
  'instances.remove': [
    { name: 'terminate', before: online, act: remove, is: on('DELETE', /operation=(force_)?terminate/) },
    {
      name: 'force_terminate',
      before: async (shop) => {
        shop.world.sandbox.admin.addOperationFault({ operation: 'deploy', effect: 'stuck', times: 1 });
        await shop.world.apply(instance('  forceTerminateAfter: 15m'));
        await shop.world.until(() => shop.status().phase === 'Deploying', HOUR);
      },
      act: remove,
      is: on('DELETE', /operation=force_terminate/),
    },
    { ...endOf('Terminate'), name: 'terminate at a lease’s end', is: on('DELETE', /operation=terminate/) },
    {
      name: 'terminate of one that is back',
      before: async (shop) => {
        await online(shop);
        await shop.world.advance(HOUR);
        const kept = shop.world.sandbox.admin.snapshot();
        await remove(shop);
        await shop.gone();
        shop.world.sandbox.admin.restore(kept);
      },
      act: () => Promise.resolve(),
      is: on('DELETE', /operation=terminate/),
    },
    { name: 'delete of an instance', before: online, act: remove, is: on('DELETE', /operation=delete/) },
  ],
};

/** Every write that a controller makes. */
export const WRITES: readonly Write[] = Object.values(BY_CALL).flat();
