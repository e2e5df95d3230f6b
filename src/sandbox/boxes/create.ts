import { ownerFor } from '../access.ts';
import { isBlank } from '../edge/kept.ts';
import type { Call, Outcome } from '../edge/route.ts';
import { warningHeader } from '../edge/warning.ts';
import { badRequest } from '../http.ts';
import type { BoxKind } from '../model.ts';
import { checkName, checkProvider, kindOf, type BoxBody } from './body.ts';
import { checkEvents, checkVariables, normalVariable } from './content.ts';
import { unmasked } from './masks.ts';
import { profileWarnings } from './profiles.ts';
import { BOX_FIELDS, KIND_DEFAULTS, KIND_FIELDS } from './schemas.ts';
import { checkNesting } from './tree.ts';
import { boxText } from './view.ts';

/** What POST takes only where that reading is chosen (interface document section 4.1: they start empty). */
const CONTENT = ['variables', 'events', 'files', 'ports'] as const;

/** What no POST takes, though a box has it. */
const NEVER = ['version', 'draft_from'] as const;

/** POST /services/boxes. */
export function createBox(call: Call): Outcome {
  const { service, caller } = call;
  const body = call.body as BoxBody & { schema: string; name: string };
  for (const removed of ['service', 'tags']) {
    if (!isBlank(body[removed])) throw badRequest(`${removed}: was removed; use requirements or claims`);
  }
  const kind = kindOf(service, body.schema);
  call.validation.check(KIND_FIELDS[kind], body);
  const owner = ownerFor(caller, body.owner);
  checkName(service, owner, body.name);
  if ('provider_id' in KIND_DEFAULTS[kind]) checkProvider(call, kind, body['provider_id']);
  const left = leftOut(service.rules.boxPostComplete, kind, body);
  const taken = Object.fromEntries(Object.entries(body).filter(([name]) => !left.includes(name))) as BoxBody;
  const variables = unmasked(service, (taken.variables ?? []).map(normalVariable), []);
  checkVariables(service, caller, variables);
  checkEvents(service, caller, taken.events);
  const now = service.time.stamp();
  const box = {
    id: service.ids.uuid(),
    kind,
    name: body.name,
    description: body.description ?? '',
    owner,
    organization: caller.organization,
    visibility: body.visibility ?? 'workspace',
    members: body.members ?? [],
    icon: body.icon ?? '',
    created: now,
    updated: now,
    deleted: null,
    variables,
    automatic_updates: body.automatic_updates ?? 'off',
    fields: fieldsOf(kind, taken),
  };
  checkNesting(service, box);
  service.store.boxes.put(box);
  const warnings = left.map((name) => `${name} was left out: send it with PUT`);
  return {
    kind: 'text',
    text: boxText(service, box),
    headers: warningHeader([...warnings, ...profileWarnings(box.fields['profile'])]),
  };
}

/** Fields that a box has and that this request does not take. */
function leftOut(complete: boolean, kind: BoxKind, body: BoxBody): string[] {
  const others = BOX_FIELDS.filter((name) => !(name in KIND_DEFAULTS[kind]));
  const untaken = new Set<string>([...NEVER, ...others, ...(complete ? [] : CONTENT)]);
  return Object.keys(body).filter((name) => untaken.has(name) && !isBlank(body[name]));
}

function fieldsOf(kind: BoxKind, taken: BoxBody): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...KIND_DEFAULTS[kind] };
  for (const name of [...Object.keys(fields), 'files', 'ports']) {
    const value = taken[name];
    if (value !== undefined && value !== null) fields[name] = value;
  }
  return fields;
}
