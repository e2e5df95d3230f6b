import { lookAgainMs } from '../../base/backoff.ts';
import type { PolicyBox } from '../../api/policy-box.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { ResourceType } from '../../kube/index.ts';
import type { BoxRecord, ProviderRecord, Read } from '../../service/index.ts';
import { hashOfVariables, resolveVariables } from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import { convergeDraft, type DraftMemory } from '../draft/converge.ts';
import type { Draft } from '../draft/draft.ts';
import { DRAFT_FORGOTTEN, draftKind, shownOf } from '../draft/kind.ts';
import type { Pass, RecordKind, Resolution } from '../record/kind.ts';
import { plainIdProblem } from '../record/plain-id.ts';
import { verdict } from '../record/status/verdict.ts';
import { finalNameOf } from '../record/resource.ts';

interface PolicyMemory extends DraftMemory {
  provider: ProviderRecord | undefined;
}

type PolicyPass = Pass<PolicyBox, BoxRecord, PolicyMemory>;

/** A ready provider is asked for again after so long, milliseconds. */
const PROVIDER_AGE_MS = 60_000;
/** One that is not ready is looked at again so often, soon and later, milliseconds. */
const PROVIDER_WAIT_MS = { shortest: 7_500, longest: 600_000 };
/** A list of so long before will do for that, milliseconds. */
const PROVIDER_WAIT_AGE_MS = 2_000;

/** A PolicyBox as a record of the service. */
export function policyBoxKind(options: {
  context: OperatorContext;
  type: ResourceType;
  users: (box: PolicyBox) => { names: string[]; others: boolean };
}): RecordKind<PolicyBox, BoxRecord, Draft, PolicyMemory> {
  const { context } = options;
  return {
    ...draftKind('policy'),
    type: options.type,
    noun: 'policy box',
    forgotten: DRAFT_FORGOTTEN,
    resolve: (pass) => resolvePolicyBox(pass, context),
    converge: async (pass, record, draft) => {
      const done = await convergeDraft<PolicyBox>(pass, record, draft);
      return { ...done, fields: { ...done.fields, ...providerFields(pass) } };
    },
    observe: (pass, record) => ({ ...shownOf<PolicyBox>(record), ...providerFields(pass) }),
    users: options.users,
  };
}

async function resolvePolicyBox(pass: PolicyPass, context: OperatorContext): Promise<Resolution<Draft>> {
  const { resource, handle, signal, secretsAfter } = pass;
  const { spec, metadata } = resource;
  const variables = await resolveVariables(
    { 'spec.variables': spec.variables },
    {
      namespace: metadata.namespace,
      sources: context.sources,
      digest: context.digest,
      secrets: handle.secrets,
      signal,
      secretsAfter,
      sum: { files: 0, secrets: 0 },
    },
  );
  if (variables.kind === 'waiting') return variables;
  const provider = await providerOf(pass);
  if (provider !== undefined) return provider;
  const { schema, properties } = spec.profile;
  const asked = {
    profile: { ...properties, schema: schema.includes('://') ? schema : `${handle.schemaBase}/${schema}` },
    provider_id: spec.providerId,
    claims: spec.claims,
    ...(spec.lifespan === undefined ? {} : { lifespan: lifespanOf(spec.lifespan) }),
  };
  const name = finalNameOf({ spec, metadata });
  const fields = { description: spec.description };
  const hash = context.digest.of(
    canonicalJson({ name, fields, asked }),
    hashOfVariables(variables.variables),
  );
  return {
    kind: 'ready',
    desired: { name, fields, asked, variables: variables.variables, events: [], hash },
  };
}

/** Waits until the provider is ready; undefined when it is. */
async function providerOf(pass: PolicyPass): Promise<Resolution<Draft> | undefined> {
  const { resource, handle, memory } = pass;
  const id = resource.spec.providerId;
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
    const named = { field: 'spec.providerId', noun: 'provider', id };
    const seen: { record?: ProviderRecord } = {};
    const read = async (): Promise<Read<ProviderRecord>> => {
      const single = await handle.client.providers.read(id, { priority: pass.priority, signal: pass.signal });
      if (single.kind === 'found') seen.record = single.record;
      return single;
    };
    const problem = await plainIdProblem(pass, named, read, true);
    if (seen.record === undefined) {
      const said = problem ?? verdict('WaitingForReference', 'spec.providerId: the provider is looked at');
      if (said.reason !== 'ServiceUnavailable') memory.provider = undefined;
      return { kind: 'waiting', verdict: said };
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
  const message = `spec.providerId: provider "${record.name ?? id}" is ${record.state ?? 'in no known state'}, not ready`;
  return { kind: 'waiting', verdict: verdict('WaitingForReference', message, recheckAfterMs) };
}

/** `{operation, interval, quantity}`, or `{operation: none}` (service-behaviour.md 2.6). */
function lifespanOf({ after }: NonNullable<PolicyBox['spec']['lifespan']>): Record<string, unknown> {
  if (after === undefined) return { operation: 'none' };
  return { operation: 'terminate', interval: 'hours', quantity: parseDuration(after) / 3_600_000 };
}

function providerFields(pass: PolicyPass): {
  providerId?: string;
  provider?: { name?: string; state?: string };
} {
  const record = pass.memory.provider;
  if (record === undefined) return {};
  const { name, state } = record;
  return {
    providerId: record.id,
    provider: { ...(name === undefined ? {} : { name }), ...(state === undefined ? {} : { state }) },
  };
}
