import { lookAgainMs } from '../../base/backoff.ts';
import type { BoxRecord, ProviderRecord, Read } from '../../service/index.ts';
import type { Pass } from '../record/kind.ts';
import { plainIdProblem } from '../record/plain-id.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import type { DraftMemory, DraftResource } from './converge.ts';

/** A ready provider is asked for again after so long, milliseconds. */
const PROVIDER_AGE_MS = 60_000;
/** One that is not ready is looked at again so often, soon and later, milliseconds. */
const PROVIDER_WAIT_MS = { shortest: 7_500, longest: 600_000 };
/** A list of so long before will do for that, milliseconds. */
const PROVIDER_WAIT_AGE_MS = 2_000;

/** What the provider of a record waits for; undefined when it is ready. `field`: where its id stands. */
export async function awaitedProvider<R extends DraftResource>(
  pass: Pass<R, BoxRecord, DraftMemory>,
  { field, id }: { field: string; id: string },
): Promise<Verdict | undefined> {
  const { resource, handle, memory } = pass;
  const list = await handle.client.shared.list('providers', pass.owner, {
    maxAgeMs:
      memory.provider?.id === id && memory.provider.state === 'ready'
        ? PROVIDER_AGE_MS
        : PROVIDER_WAIT_AGE_MS,
    // What the user has just applied may come with the end of the wait: an older list does not say otherwise.
    ...(pass.priority.byPerson ? { holding: (entry) => entry.id === id && entry.state === 'ready' } : {}),
    priority: pass.priority,
    signal: pass.signal,
  });
  let record = list.kind === 'found' ? list.record.find((entry) => entry.id === id) : undefined;
  if (record === undefined) {
    const seen: { record?: ProviderRecord } = {};
    const read = async (): Promise<Read<ProviderRecord>> => {
      const single = await handle.client.providers.read(id, { priority: pass.priority, signal: pass.signal });
      if (single.kind === 'found') seen.record = single.record;
      return single;
    };
    const problem = await plainIdProblem(pass, { field, noun: 'provider', id }, read, true);
    if (seen.record === undefined) {
      const said = problem ?? verdict('WaitingForReference', `${field}: the provider is looked at`);
      if (said.reason !== 'ServiceUnavailable') memory.provider = undefined;
      return said;
    }
    record = seen.record;
  }
  memory.provider = record;
  if (record.state === 'ready' || (resource.status.draftHash !== undefined && record.state !== 'deleting')) {
    return undefined;
  }
  const now = handle.client.stamp();
  const { shortest, longest } = PROVIDER_WAIT_MS;
  const recheckAfterMs = lookAgainMs(now - (memory.generation?.since ?? now), shortest, longest);
  const message = `${field}: provider "${record.name ?? id}" is ${record.state ?? 'in no known state'}, not ready`;
  return verdict('WaitingForReference', message, recheckAfterMs);
}
