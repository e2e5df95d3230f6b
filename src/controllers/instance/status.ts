import { rfc3339 } from '../../base/rfc3339.ts';
import type { Instance } from '../../api/instance.ts';
import type { InstanceRecord, MachineRecord } from '../../service/index.ts';
import type { StatusFields } from '../record/kind.ts';
import { readLease } from './lease/terms.ts';
import { pairOf, phaseOf } from './pair.ts';

/** What is longer is no address, characters. */
const LONGEST_ADDRESS = 256;

/** Status fields that speak of one record: they go when it is made again. */
export const INSTANCE_FORGOTTEN = [
  'state',
  'operation',
  'phase',
  'service',
  'address',
  'machines',
  'lease',
  'box',
  'policyBox',
  'currentOperation',
  'lastOperation',
  'appliedHash',
  'appliedOperation',
  'pendingHash',
  'handledRequests',
  'refusedRequest',
  'appliedTags',
  'armed',
  'releasedExpire',
  'managed',
  'drift',
] as const satisfies readonly (keyof StatusFields<Instance>)[];

/** What status shows of an instance whose record is gone: nothing that speaks of what runs. */
export const INSTANCE_GONE: StatusFields<Instance> = {
  phase: 'Terminated',
  state: undefined,
  operation: undefined,
  service: undefined,
  address: undefined,
  machines: undefined,
  currentOperation: undefined,
};

/** What a record shows, as status fields. Secrets of the service (tokens of machines) are never among them. */
export function projectInstance(instance: Instance, record: InstanceRecord): StatusFields<Instance> {
  const pair = pairOf(record);
  const before = record.id === instance.status.id ? (instance.status.machines ?? []) : [];
  const known = new Map(before.map(({ name, addresses }) => [name, addresses]));
  const machines = (record.service?.machines ?? [])
    .flatMap((machine) => machineOf(machine))
    .map((machine) => ({ ...optional('addresses', known.get(machine.name)), ...machine }));
  const box = idOf(record.box);
  const policy = idOf(record.policy_box);
  const { operation } = record;
  return {
    id: record.id,
    uri: record.uri,
    state: word(pair.state),
    operation:
      pair.event === ''
        ? undefined
        : {
            event: pair.event,
            ...optional('workspace', word(operation?.workspace)),
            ...optional('created', word(operation?.created)),
          },
    phase: phaseOf(pair),
    service:
      record.service?.id === undefined && record.service?.type === undefined
        ? undefined
        : { ...optional('id', word(record.service.id)), ...optional('type', word(record.service.type)) },
    machines: machines.length === 0 ? undefined : machines,
    address: addressOf(machines),
    lease: leaseFields(instance, record),
    box:
      box === undefined
        ? instance.status.box
        : {
            id: box,
            ...optional('name', instance.spec.boxRef?.name),
            ...optional('draftHash', instance.status.box?.draftHash),
            ...optional('nested', instance.status.box?.nested),
          },
    policyBox:
      policy === undefined
        ? instance.status.policyBox
        : { id: policy, ...optional('name', instance.spec.policyBoxRef?.name) },
  };
}

function leaseFields(instance: Instance, record: InstanceRecord): Instance['status']['lease'] {
  const source = instance.status.lease?.source;
  const by = instance.status.lease?.by;
  const shown = readLease(record.lease);
  if (shown === undefined && source === undefined) return undefined;
  const expire = shown?.expire ?? (source?.expire === undefined ? undefined : Date.parse(source.expire));
  const done =
    expire !== undefined &&
    instance.status.releasedExpire !== undefined &&
    Date.parse(instance.status.releasedExpire) === expire;
  return {
    operation: shown?.operation ?? instance.status.lease?.operation ?? 'AlwaysOn',
    ...(expire === undefined ? {} : { expire: rfc3339(expire) }),
    released: shown?.released === true || done,
    ...(by === undefined ? {} : { by }),
    ...(source === undefined ? {} : { source }),
  };
}

/** The address that stands for the instance: the first machine's, its public one where it has one. */
export function addressOf(machines: Instance['status']['machines']): string | undefined {
  const addresses = machines?.[0]?.addresses;
  return addresses?.public ?? addresses?.private;
}

/** A machine as status shows it; none when it has no name. */
export function machineOf(machine: MachineRecord): NonNullable<Instance['status']['machines']> {
  if (typeof machine.name !== 'string' || machine.name === '') return [];
  const address = machine.address ?? {};
  const [open, closed] = [addressIn(address['public']), addressIn(address['private'])];
  return [
    {
      name: machine.name,
      ...optional('state', word(machine.state)),
      ...(open === undefined && closed === undefined
        ? {}
        : { addresses: { ...optional('public', open), ...optional('private', closed) } }),
    },
  ];
}

/** The same, with the machines in the order of their names. */
export function projectInOrder(instance: Instance, record: InstanceRecord): StatusFields<Instance> {
  const fields = projectInstance(instance, record);
  const machines = fields.machines?.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { ...fields, machines };
}

/** An id, from a plain string or from a full object (the builds of the service differ). */
export function idOf(value: unknown): string | undefined {
  if (typeof value === 'string') return word(value);
  if (value !== null && typeof value === 'object' && 'id' in value) return word(value.id);
  return undefined;
}

function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function optional<K extends string, V>(key: K, value: V | undefined): { [Key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [Key in K]?: V });
}

function addressIn(value: unknown): string | undefined {
  const address = word(value);
  return address !== undefined && address.length <= LONGEST_ADDRESS ? address : undefined;
}
