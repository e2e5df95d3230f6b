import type { InstanceRecord } from '../../service/index.ts';
import { verdict } from '../record/status/verdict.ts';
import { pairOf, phaseOf } from './pair.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { addressOf, machineOf } from './status.ts';

/** The fields with addresses, and when to ask for them again where they could not be read, milliseconds. */
export interface WithAddresses {
  fields: InstanceFields;
  askAgainMs: number;
}

/** How the ledger of attempts calls looking for them. */
const ADDRESSES = 'addresses';
/** So many machines status shows: those of the others are not kept. */
const MACHINES_SHOWN = 50;

/**
 * Adds the addresses of machines, which stand in the running service and not in the instance's record
 * (service-behaviour.md 2.7), where that of a service without machines stands as well. They are read for each
 * operation that has brought the instance online, and again, ever more slowly, as long as one is missing. What was
 * found is kept, since the status that is to show it may not get written at the first try.
 */
export async function withAddresses(
  pass: InstancePass,
  record: InstanceRecord,
  fields: InstanceFields,
): Promise<WithAddresses> {
  if (phaseOf(pairOf(record)) !== 'Online') return { fields, askAgainMs: Infinity };
  const { machines = [] } = fields;
  const { memory, resource } = pass;
  const { attempts } = memory;
  const operation = `${record.operation?.event}/${record.operation?.created}`;
  const shown = resource.status.operation;
  // After a restart status knows for which operation it has them.
  const isKnown =
    machines.length === 0
      ? resource.status.address !== undefined
      : machines.slice(0, MACHINES_SHOWN).every(({ addresses }) => addresses !== undefined);
  if (isKnown && memory.addresses === undefined && `${shown?.event}/${shown?.created}` === operation) {
    const ofService = machines.length === 0 ? resource.status.address : undefined;
    memory.addresses = { operation, byMachine: new Map(), ofService, complete: true, machines: undefined };
  }
  if (memory.addresses !== undefined && memory.addresses.operation !== operation) {
    memory.addresses = undefined;
    attempts.succeeded('read', ADDRESSES);
  }
  const waits = attempts.held('read', ADDRESSES)?.retryAfterMs;
  const isComplete = memory.addresses?.complete === true;
  const askAgainMs = isComplete ? Infinity : (waits ?? (await read(pass, record, operation, machines)));
  const { byMachine, ofService } = memory.addresses ?? {};
  // Of a record that was read singly since, the machines are newer.
  if (memory.glances === 0 && memory.addresses !== undefined) memory.addresses.machines = undefined;
  const running = memory.addresses?.machines ?? machines;
  const filled = running.map(({ addresses: old, ...machine }) => {
    const addresses = byMachine?.get(machine.name) ?? old;
    return addresses === undefined ? machine : { ...machine, addresses };
  });
  const address = addressOf(filled) ?? ofService;
  return {
    fields: { ...fields, ...(running.length === 0 ? {} : { machines: filled }), address },
    askAgainMs,
  };
}

/** Reads the running service; answers when to ask again. */
async function read(
  { memory, handle, priority, signal }: InstancePass,
  record: InstanceRecord,
  operation: string,
  shown: NonNullable<InstanceFields['machines']>,
): Promise<number> {
  const { attempts } = memory;
  const found = await handle.client.instances.service(record.id, { priority, signal });
  if (found.kind !== 'found') {
    const said = verdict('Unknown', 'The running service could not be read');
    const mayPass = found.kind === 'unknown' && found.error.class !== 'NeedsUser';
    const { recheckAfterMs = Infinity } = mayPass
      ? attempts.failed('read', ADDRESSES, said)
      : attempts.missed('read', ADDRESSES, said);
    return recheckAfterMs;
  }
  const seen = (found.record.machines ?? [])
    .flatMap(machineOf)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  // What a list told of the end says nothing of machines: those of the record are from before.
  const machines = (memory.glances === 0 ? shown : seen).slice(0, MACHINES_SHOWN);
  const names = new Set(machines.map(({ name }) => name));
  const byMachine = new Map(
    seen.filter(({ name }) => names.has(name)).map(({ name, addresses }) => [name, addresses]),
  );
  const { address } = found.record;
  const ofService = typeof address === 'string' && address !== '' ? address.slice(0, 256) : undefined;
  const complete =
    machines.length === 0
      ? ofService !== undefined
      : machines.every(({ name, addresses }) => (byMachine.get(name) ?? addresses) !== undefined);
  memory.addresses = {
    operation,
    byMachine,
    ofService,
    complete,
    machines: memory.glances === 0 ? undefined : machines,
  };
  if (complete) {
    attempts.succeeded('read', ADDRESSES);
    return Infinity;
  }
  const said = verdict('Settled', 'The running service has no address yet');
  return attempts.missed('read', ADDRESSES, said).recheckAfterMs ?? Infinity;
}
