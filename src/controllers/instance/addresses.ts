import type { InstanceRecord } from '../../service/index.ts';
import { pairOf, phaseOf } from './pair.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { addressOf, machineOf } from './status.ts';

/**
 * Adds the addresses of machines, which stand in the running service and not in the instance's record
 * (service-behaviour.md 2.7). One read for each operation that has brought the instance online.
 */
export async function withAddresses(
  pass: InstancePass,
  record: InstanceRecord,
  fields: InstanceFields,
): Promise<InstanceFields> {
  const { machines } = fields;
  if (phaseOf(pairOf(record)) !== 'Online' || machines === undefined) return fields;
  const { memory, resource, handle, priority, signal } = pass;
  const operation = `${record.operation?.event}/${record.operation?.created}`;
  const shown = resource.status.operation;
  const complete = machines.every(({ addresses }) => addresses !== undefined);
  // After a restart status knows for which operation it has them.
  if (complete && `${shown?.event}/${shown?.created}` === operation) memory.addressesOf ??= operation;
  if (memory.addressesOf === operation) return fields;
  const read = await handle.client.instances.service(record.id, { priority, signal });
  // Only shown: without an answer the next look asks again.
  if (read.kind !== 'found') return fields;
  memory.addressesOf = operation;
  const found = new Map(
    (read.record.machines ?? []).flatMap(machineOf).map(({ name, addresses }) => [name, addresses]),
  );
  const filled = machines.map(({ addresses: old, ...machine }) => {
    const addresses = found.get(machine.name) ?? old;
    return addresses === undefined ? machine : { ...machine, addresses };
  });
  return { ...fields, machines: filled, address: addressOf(filled) };
}
