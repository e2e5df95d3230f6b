import type { InstanceRecord } from '../../service/index.ts';
import { backoffMs } from '../record/looks.ts';
import { pairOf, phaseOf } from './pair.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { addressOf, machineOf } from './status.ts';

/** The fields with addresses, and when to ask for them again where they could not be read, milliseconds. */
export interface WithAddresses {
  fields: InstanceFields;
  askAgainMs: number;
}

/**
 * Adds the addresses of machines, which stand in the running service and not in the instance's record
 * (service-behaviour.md 2.7). One read for each operation that has brought the instance online; what it found
 * is kept, since the status that is to show it may not get written at the first try.
 */
export async function withAddresses(
  pass: InstancePass,
  record: InstanceRecord,
  fields: InstanceFields,
): Promise<WithAddresses> {
  const { machines } = fields;
  if (phaseOf(pairOf(record)) !== 'Online' || machines === undefined) return { fields, askAgainMs: Infinity };
  const { memory, resource, handle, priority, signal } = pass;
  const operation = `${record.operation?.event}/${record.operation?.created}`;
  const shown = resource.status.operation;
  const complete = machines.every(({ addresses }) => addresses !== undefined);
  // After a restart status knows for which operation it has them.
  if (complete && memory.addresses === undefined && `${shown?.event}/${shown?.created}` === operation) {
    memory.addresses = { operation, byMachine: new Map() };
  }
  if (memory.addresses?.operation !== operation) {
    const read = await handle.client.instances.service(record.id, { priority, signal });
    if (read.kind !== 'found') {
      memory.addressFailures += 1;
      return { fields, askAgainMs: backoffMs(memory.addressFailures, pass.random) };
    }
    memory.addressFailures = 0;
    const found = (read.record.machines ?? []).flatMap(machineOf);
    memory.addresses = {
      operation,
      byMachine: new Map(found.map(({ name, addresses }) => [name, addresses])),
    };
  }
  const { byMachine } = memory.addresses;
  const filled = machines.map(({ addresses: old, ...machine }) => {
    const addresses = byMachine.get(machine.name) ?? old;
    return addresses === undefined ? machine : { ...machine, addresses };
  });
  return { fields: { ...fields, machines: filled, address: addressOf(filled) }, askAgainMs: Infinity };
}
