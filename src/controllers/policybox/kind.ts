import type { PolicyBox } from '../../api/policy-box.ts';
import { parseDuration } from '../../base/duration.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { ResourceType } from '../../kube/index.ts';
import type { BoxRecord } from '../../service/index.ts';
import { hashOfVariables, resolveVariables } from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import { domainOf } from '../digest.ts';
import { convergeDraft, type DraftMemory } from '../draft/converge.ts';
import type { Draft } from '../draft/draft.ts';
import { DRAFT_FORGOTTEN, draftKind, shownOf } from '../draft/kind.ts';
import { wireProfile } from '../draft/profile.ts';
import { awaitedProvider } from '../draft/provider.ts';
import type { Pass, RecordKind, Resolution } from '../record/kind.ts';
import { finalNameOf } from '../record/resource.ts';

type PolicyPass = Pass<PolicyBox, BoxRecord, DraftMemory>;

/** A PolicyBox as a record of the service. */
export function policyBoxKind(options: {
  context: OperatorContext;
  type: ResourceType;
  users: (box: PolicyBox) => { names: string[]; others: boolean };
}): RecordKind<PolicyBox, BoxRecord, Draft, DraftMemory> {
  const { context } = options;
  return {
    ...draftKind(() => 'policy'),
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
  const { digest } = context;
  const domain = domainOf(resource);
  const variables = await resolveVariables(
    { 'spec.variables': spec.variables },
    {
      domain,
      sources: context.sources,
      digest,
      secrets: handle.secrets,
      signal,
      secretsAfter,
      sum: { files: 0, secrets: 0 },
    },
  );
  if (variables.kind === 'waiting') return variables;
  const waits = await awaitedProvider(pass, { field: 'spec.providerId', id: spec.providerId });
  if (waits !== undefined) return { kind: 'waiting', verdict: waits };
  const asked = {
    profile: wireProfile(spec.profile, handle.schemaBase),
    provider_id: spec.providerId,
    claims: spec.claims,
    ...(spec.lifespan === undefined ? {} : { lifespan: lifespanOf(spec.lifespan) }),
  };
  const name = finalNameOf({ spec, metadata });
  const fields = { description: spec.description };
  const inner = digest.of(canonicalJson({ name, fields, asked }), hashOfVariables(variables.variables));
  const hash = digest.shown(domain, 'draftHash', inner);
  return {
    kind: 'ready',
    desired: {
      name,
      fields,
      asked,
      variables: variables.variables,
      events: [],
      attachments: [],
      members: [],
      hash,
    },
  };
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
