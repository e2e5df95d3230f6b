import { canSeeProvider } from '../access.ts';
import type { Call } from '../edge/route.ts';
import { badRequest, conflict } from '../http.ts';
import type { BoxKind, Member, Variable, Version } from '../model.ts';
import type { Service } from '../service.ts';

/** A box in a request. */
export interface BoxBody {
  schema?: string;
  name?: string;
  description?: string;
  owner?: string;
  visibility?: string;
  icon?: string | null;
  members?: Member[];
  variables?: Variable[];
  automatic_updates?: string;
  events?: Record<string, unknown>;
  requirements?: string[];
  version?: Version;
  [field: string]: unknown;
}

const KINDS: readonly BoxKind[] = ['script', 'policy', 'cloudformation', 'docker'];

/** @throws Refusal 400 for a schema that is not that of a box */
export function kindOf(service: Service, schema: string): BoxKind {
  const kind = KINDS.find((name) => schema === `${service.schemaBase}/boxes/${name}`);
  if (kind !== undefined) return kind;
  const known = KINDS.map((name) => `${service.schemaBase}/boxes/${name}`).join(', ');
  throw badRequest(`schema: "${schema}" is not a box type; use one of ${known}`);
}

/** @throws Refusal 409 when another box of the workspace has the name */
export function checkName(service: Service, owner: string, name: string, except?: string): void {
  const taken = service.store.boxes
    .by('owner', owner)
    .some((box) => box.name === name && box.version === undefined && box.id !== except);
  if (taken) throw conflict(`name: workspace "${owner}" already has a box called "${name}"`);
}

/** @throws Refusal 400 when the caller cannot use the provider, or a box of that kind cannot */
export function checkProvider(call: Call, kind: BoxKind, id: unknown): void {
  const provider = call.service.store.providers.get(String(id));
  if (provider === undefined || !canSeeProvider(call.service, call.caller, provider)) {
    throw badRequest(`provider_id: there is no provider ${String(id)} that you can see`);
  }
  if (kind === 'cloudformation' && provider.kind !== 'aws') {
    throw badRequest(`provider_id: a cloudformation box needs an AWS provider, ${provider.name} is none`);
  }
}
