import type { InstanceDoc, Machine } from '../../model.ts';
import type { Service } from '../../service.ts';
import { line, machineNames, type Run } from './operations.ts';
import { note, userOf } from './outcome.ts';

/** The machines of a deploy come up, with loopback addresses. A service without machines has an address itself. */
export function addMachines(service: Service, instance: InstanceDoc, run: Run, at: number): void {
  const { ids, time } = service;
  if (instance.service.machines.length > 0) return;
  const names = instance.service.type.endsWith('Compute') ? machineNames(instance) : [];
  const machines = names.map((name, index): Machine => ({
    name,
    state: 'processing',
    workflow: [],
    token: ids.uuid(),
    external_id: `sim-${ids.hex(8)}`,
    address: addressOf(instance, index),
  }));
  const username = userOf(service, run);
  const lines = names.map((name) => ({
    ...line(username, `Machine ${name} is up`, 'add', time.stamp(at)),
    machine: name,
  }));
  const stamp = time.stamp(at);
  service.store.instances.put({
    ...instance,
    service: {
      ...instance.service,
      machines,
      state_history: [...instance.service.state_history, { state: 'up', started: stamp, completed: null }],
    },
    updated: stamp,
  });
  note(service, run, ...lines);
}

/** 127.0.0.2 and so on; a machine that the user brings has the address that was given for it. */
function addressOf(instance: InstanceDoc, index: number): Record<string, unknown> {
  const own = `127.0.${Math.floor(index / 250)}.${(index % 250) + 2}`;
  const address = instance.ipv4_address ?? own;
  return { public: address, private: address };
}
