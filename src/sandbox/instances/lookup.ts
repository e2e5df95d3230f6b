import { canChange, canSee } from '../access.ts';
import { checkSameRecord, idsOf, listOf, param, type Call, type Outcome } from '../edge/route.ts';
import { forbidden, notFound, Refusal } from '../http.ts';
import type { InstanceDoc } from '../model.ts';
import { instanceEntry, instanceText } from './view.ts';

/** The instance of the path. @throws Refusal 404 or 403 */
export function visible(call: Call): InstanceDoc {
  const { service } = call;
  const id = param(call, 'instance_id');
  const instance = service.store.instances.get(id);
  if (instance === undefined) {
    const was = service.store.settings.get(`gone:${id}`);
    throw was === undefined
      ? notFound(`there is no instance ${id}`)
      : new Refusal(service.rules.goneStatus, `instance ${id} was deleted`);
  }
  if (!canSee(call.caller, instance)) throw forbidden(`instance ${id} is not shared with you`);
  return instance;
}

/** The same, when the caller may change it. @throws Refusal 403, 404 */
export function changeable(call: Call): InstanceDoc {
  const instance = visible(call);
  if (!canChange(call.caller, instance))
    throw forbidden(`you may read instance ${instance.id}, not change it`);
  checkSameRecord(call, instance.id);
  return instance;
}

/** The instance as the answer. */
export function shown(call: Call, instance: InstanceDoc): Outcome {
  return { kind: 'text', text: instanceText(call.service, instance) };
}

/** Instances of a list, those asked for by `ids` when there is such a query. */
export function instanceList(call: Call, instances: readonly InstanceDoc[]): Outcome {
  const ids = call.service.rules.idsEverywhere ? idsOf(call) : undefined;
  const chosen = ids === undefined ? instances : instances.filter((instance) => ids.has(instance.id));
  return listOf(chosen, (instance) => instanceEntry(call.service, instance));
}
