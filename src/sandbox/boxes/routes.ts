import { Type } from 'typebox';
import { canChange, canSeeBox, canSeeProvider, ownerFor } from '../access.ts';
import { idsOf, param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { badRequest, conflict, forbidden, notFound } from '../http.ts';
import type { BoxDoc, BoxKind, Member, Variable, Version } from '../model.ts';
import type { Service } from '../service.ts';
import { checkCycle, checkEvents, checkVariables, normalVariable } from './content.ts';
import {
  BoxAnswer,
  BoxList,
  CommonBox,
  DiffAnswer,
  KIND_DEFAULTS,
  KIND_FIELDS,
  NEW_BOX_VARIANTS,
  NewBox,
} from './schemas.ts';
import { boxChildren } from './tree.ts';
import { boxDiff } from './diff.ts';
import { spreadVersion } from './updates.ts';
import { warningHeader } from './profiles.ts';
import { makeVersion, versionsOf } from './versions.ts';
import { boxText } from './view.ts';

interface BoxBody {
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

/** Fields of a box that are kept outside `fields`. */
const OWN_FIELDS = new Set([
  'name',
  'description',
  'icon',
  'members',
  'variables',
  'visibility',
  'automatic_updates',
]);

/** Interface document section 4.1: only these may change. */
const PUT_FIELDS = [
  'files',
  'variables',
  'ports',
  'requirements',
  'description',
  'icon',
  'name',
  'events',
  'members',
] as const;

/** The box of the path. @throws Refusal 404 or 403 */
export function visibleBox(call: Call): BoxDoc {
  const id = param(call, 'box_id');
  const box = call.service.store.boxes.get(id);
  if (box === undefined) throw notFound(`there is no box ${id}`);
  if (!canSeeBox(call.caller, box)) throw forbidden(`box ${id} is not shared with you`);
  return box;
}

function changeableBox(call: Call): BoxDoc {
  const box = visibleBox(call);
  if (!canChange(call.caller, box)) throw forbidden(`you may read box ${box.id}, not change it`);
  return box;
}

function kindOf(service: Service, schema: string): BoxKind {
  const kind = KINDS.find((name) => schema === `${service.schemaBase}/boxes/${name}`);
  if (kind !== undefined) return kind;
  const known = KINDS.map((name) => `${service.schemaBase}/boxes/${name}`).join(', ');
  throw badRequest(`schema: "${schema}" is not a box type; use one of ${known}`);
}

function checkName(service: Service, owner: string, name: string, except?: string): void {
  const taken = service.store.boxes
    .by('owner', owner)
    .some((box) => box.name === name && box.version === undefined && box.id !== except);
  if (taken) throw conflict(`name: workspace "${owner}" already has a box called "${name}"`);
}

function checkProvider(call: Call, kind: BoxKind, id: unknown): void {
  const provider = call.service.store.providers.get(String(id));
  if (provider === undefined || !canSeeProvider(call.service, call.caller, provider)) {
    throw badRequest(`provider_id: there is no provider ${String(id)} that you can see`);
  }
  if (kind === 'cloudformation' && provider.kind !== 'aws') {
    throw badRequest(`provider_id: a cloudformation box needs an AWS provider, ${provider.name} is none`);
  }
}

function create(call: Call): Outcome {
  const { service, caller } = call;
  const body = call.body as BoxBody & { schema: string; name: string };
  for (const removed of ['service', 'tags']) {
    const value = body[removed];
    if (value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)) {
      throw badRequest(`${removed}: was removed; use requirements or claims`);
    }
  }
  const kind = kindOf(service, body.schema);
  call.validation.check(KIND_FIELDS[kind], body);
  const owner = ownerFor(caller, body.owner);
  checkName(service, owner, body.name);
  if ('provider_id' in KIND_DEFAULTS[kind]) checkProvider(call, kind, body['provider_id']);
  const fields: Record<string, unknown> = { ...KIND_DEFAULTS[kind] };
  for (const field of Object.keys(fields)) {
    // Variables and events start empty (interface document section 4.1).
    if (field !== 'events' && body[field] !== undefined) fields[field] = body[field];
  }
  const now = service.time.stamp();
  const box = service.store.boxes.put({
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
    variables: [],
    automatic_updates: body.automatic_updates ?? 'off',
    fields,
  });
  return { kind: 'text', text: boxText(service, box), headers: warningHeader(fields['profile']) };
}

/** The box with what `body` changes, its stamp excepted. */
function changed(call: Call, box: BoxDoc, body: BoxBody): BoxDoc {
  const { service } = call;
  const names: string[] = [...PUT_FIELDS, ...service.rules.boxPutMore];
  const own: Partial<Record<string, unknown>> = {};
  const fields = { ...box.fields };
  for (const name of names) {
    const value = body[name];
    if (value === undefined) continue;
    if (OWN_FIELDS.has(name)) own[name] = value;
    else if (name in KIND_DEFAULTS[box.kind] || name === 'files' || name === 'ports') fields[name] = value;
    else if (!(Array.isArray(value) && value.length === 0) && Object.keys(value as object).length > 0) {
      throw badRequest(`${name}: a ${box.kind} box has none`);
    }
  }
  if (own['icon'] === null) own['icon'] = '';
  if (body.variables !== undefined) own['variables'] = body.variables.map(normalVariable);
  return { ...box, ...own, fields };
}

function update(call: Call): Outcome {
  const { service, caller } = call;
  const box = changeableBox(call);
  const body = call.body as BoxBody;
  if (box.version !== undefined) {
    throw badRequest('this is a version, and versions never change: update the box and make a new version');
  }
  if (body.schema !== undefined && kindOf(service, body.schema) !== box.kind) {
    throw badRequest(`schema: the type of a box cannot change, it is ${box.kind}`);
  }
  const next = changed(call, box, body);
  if (body.variables !== undefined) checkVariables(service, caller, next.variables);
  if (body.events !== undefined) checkEvents(service, next.fields['events']);
  if (next.name !== box.name) checkName(service, box.owner, next.name, box.id);
  checkCycle(service, next);
  if (body.version !== undefined) {
    const version = makeVersion(service, next, body.version);
    spreadVersion(service, version);
    return { kind: 'text', text: boxText(service, version) };
  }
  const stored = service.store.boxes.put({ ...next, updated: service.time.stamp() });
  const headers = warningHeader(stored.fields['profile']);
  return { kind: 'text', text: boxText(service, stored), headers };
}

/**
 * Removes a box and its versions. What was deployed from it keeps running: instances hold their own copy, which
 * shows the date in `deleted`.
 */
function remove(call: Call): Outcome {
  const { service } = call;
  const box = changeableBox(call);
  const doomed = [box, ...service.store.boxes.by('base', box.id)];
  for (const { id } of doomed) {
    service.store.boxes.delete(id);
    service.store.settings.put({ id: `gone:${id}`, value: service.time.stamp() });
  }
  return { kind: 'none' };
}

const list = (call: Call, boxes: readonly BoxDoc[]): Outcome => ({
  kind: 'list',
  items: boxes.map((box) => boxText(call.service, box)),
});

/** What the caller's personal workspace has access to; versions are listed by their box only. */
function accessible(call: Call): BoxDoc[] {
  const { caller, listing } = call;
  const found = new Map<string, BoxDoc>();
  for (const box of [
    ...listing.boxes.by('owner', caller.personal),
    ...listing.boxes.by('member', caller.personal),
    ...listing.boxes.by('visibility', 'organization').filter((other) => canSeeBox(caller, other)),
    ...listing.boxes.by('visibility', 'public'),
  ]) {
    if (box.version === undefined) found.set(box.id, box);
  }
  return [...found.values()];
}

/** Interface document section 4.1. */
export const boxRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/services/boxes',
    summary: "Boxes accessible in the caller's personal workspace",
    success: 200,
    errors: [400],
    query: ['ids'],
    answer: BoxList,
    handler: (call) => {
      const ids = idsOf(call);
      if (ids === undefined) return list(call, accessible(call));
      const named = [...ids].map((id) => call.listing.boxes.get(id));
      return list(call, named.filter((box) => box !== undefined && canSeeBox(call.caller, box)) as BoxDoc[]);
    },
  },
  {
    method: 'POST',
    path: '/services/boxes',
    summary: 'Create a box',
    success: 200,
    errors: [400, 409],
    body: NewBox,
    variants: NEW_BOX_VARIANTS,
    answer: BoxAnswer,
    handler: create,
  },
  {
    method: 'GET',
    path: '/services/boxes/{box_id}',
    summary: 'Read a box',
    success: 200,
    errors: [403, 404],
    answer: BoxAnswer,
    handler: (call) => ({ kind: 'text', text: boxText(call.service, visibleBox(call)) }),
  },
  {
    method: 'PUT',
    path: '/services/boxes/{box_id}',
    summary: 'Update a box, or make a version of it',
    success: 200,
    errors: [400, 403, 404],
    body: CommonBox,
    answer: BoxAnswer,
    handler: update,
  },
  {
    method: 'DELETE',
    path: '/services/boxes/{box_id}',
    summary: 'Remove a box',
    success: 204,
    errors: [403, 404],
    handler: remove,
  },
  {
    // The spelling of the interface document's index.
    method: 'DELETE',
    path: '/services/box/{box_id}',
    summary: 'Remove a box (second spelling)',
    success: 204,
    errors: [403, 404],
    handler: remove,
  },
  {
    method: 'GET',
    path: '/services/boxes/{box_id}/stack',
    summary: 'The box and every box that a box variable of it names',
    success: 200,
    errors: [400],
    answer: BoxList,
    handler: (call) => {
      const box = visibleBox(call);
      const children = boxChildren(call.service, box, [], '').map((child) => child.box);
      return list(call, [...new Set([box, ...children])]);
    },
  },
  {
    method: 'GET',
    path: '/services/boxes/{box_id}/bindings',
    summary: 'The boxes that are bindings of the box',
    success: 200,
    errors: [400],
    answer: Type.Array(
      Type.Object({ id: Type.String(), uri: Type.String(), name: Type.String(), icon: Type.String() }),
    ),
    handler: (call) => {
      const targets = visibleBox(call)
        .variables.filter((variable) => variable.type === 'Binding')
        .map((variable) => call.service.store.boxes.get(String(variable.value)));
      return {
        kind: 'json',
        value: [...new Set(targets)]
          .filter((box) => box !== undefined)
          .map((box) => ({ id: box.id, uri: `/services/boxes/${box.id}`, name: box.name, icon: box.icon })),
      };
    },
  },
  {
    method: 'GET',
    path: '/services/boxes/{box_id}/versions',
    summary: 'The versions of a box, the newest first',
    success: 200,
    errors: [403, 404],
    answer: BoxList,
    handler: (call) => list(call, versionsOf(call.service, visibleBox(call))),
  },
  {
    method: 'PUT',
    path: '/services/boxes/{box_id}/diff',
    summary: 'Compare a box with the stored one',
    success: 200,
    errors: [403, 404],
    body: CommonBox,
    comparesRecords: true,
    answer: DiffAnswer,
    handler: (call) => ({
      kind: 'json',
      value: boxDiff(visibleBox(call), call.body as Record<string, unknown>),
    }),
  },
];
