import type { InstanceDoc, JobDoc, ProviderDoc } from '../model.ts';
import type { Service } from '../service.ts';
import { servicesOf } from './types.ts';

/** Provider states by service-behaviour.md 5: initializing → ready or unavailable; sync; deleting → gone. */
export type ProviderPhase = 'initialize' | 'sync' | 'delete';

const STATES: Readonly<Record<ProviderPhase, string>> = {
  initialize: 'initializing',
  sync: 'processing',
  delete: 'deleting',
};

export function note(
  service: Service,
  provider: ProviderDoc,
  text: string,
  level: string,
  at?: number,
): void {
  const stamp = service.time.stamp(at);
  service.store.provider_logs.put({
    id: service.ids.uuid(),
    provider_id: provider.id,
    workspace: provider.owner,
    created: stamp,
    updated: stamp,
    text,
    level,
  });
}

/** Puts the provider into the state of the phase and sees to its end. */
export function startPhase(service: Service, provider: ProviderDoc, phase: ProviderPhase): ProviderDoc {
  const { durations } = service.settings;
  const length = {
    initialize: durations.provider,
    sync: durations.providerSync,
    delete: durations.providerDelete,
  }[phase];
  service.engine.schedule({
    id: `provider:${provider.id}`,
    kind: 'provider',
    due: service.time.now() + length,
    data: { provider: provider.id, phase },
  });
  const started = service.store.providers.put({
    ...provider,
    state: STATES[phase],
    updated: service.time.stamp(),
  });
  note(service, started, `${phase} of ${provider.name} started`, 'info');
  return started;
}

/** The end of a phase. */
export function runProvider(service: Service, job: JobDoc, at: number): void {
  service.engine.cancel(job.id);
  const provider = service.store.providers.get(String(job.data['provider']));
  if (provider === undefined) return;
  const phase = job.data['phase'] as ProviderPhase;
  if (phase === 'delete') {
    for (const log of service.store.provider_logs.by('provider', provider.id)) {
      service.store.provider_logs.delete(log.id);
    }
    service.store.providers.delete(provider.id);
    return;
  }
  const ended = service.store.providers.put({
    ...provider,
    state: provider.invalid ? 'unavailable' : 'ready',
    services: provider.invalid ? provider.services : servicesOf(provider.type),
    updated: service.time.stamp(at),
  });
  const text = provider.invalid ? 'the credentials were refused' : `${provider.name} is ready`;
  note(service, ended, text, provider.invalid ? 'error' : 'success', at);
}

/** Instances that run on the provider, terminated ones excepted. */
export function usersOf(service: Service, provider: ProviderDoc): InstanceDoc[] {
  return service.store.instances.all().filter((instance) => {
    const policy = service.store.revisions.get(instance.policy)?.box;
    const gone = instance.state === 'done' && instance.operation.event.startsWith('terminate');
    return policy?.fields['provider_id'] === provider.id && !gone;
  });
}
