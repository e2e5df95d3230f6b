import { Type } from 'typebox';
import { differing, isBlank, keptWarnings } from '../edge/kept.ts';
import type { Call, Outcome } from '../edge/route.ts';
import { warningHeader } from '../edge/warning.ts';
import { badRequest } from '../http.ts';
import type { BoxDoc } from '../model.ts';
import { checkName, checkProvider, kindOf, type BoxBody } from './body.ts';
import { checkEvents, checkVariables, normalVariable } from './content.ts';
import { unmasked } from './masks.ts';
import { profileWarnings } from './profiles.ts';
import { BOX_FIELDS, KIND_DEFAULTS, KIND_FIELDS } from './schemas.ts';
import { checkNesting } from './tree.ts';
import { spreadVersion } from './updates.ts';
import { makeVersion } from './versions.ts';
import { boxText, boxView } from './view.ts';

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
const PUT_FIELDS: readonly string[] = [
  'files',
  'variables',
  'ports',
  'requirements',
  'description',
  'icon',
  'name',
  'events',
  'members',
];

/** What a client can have meant to change beyond them. */
const OTHER_FIELDS = ['owner', 'visibility', 'automatic_updates', ...BOX_FIELDS].filter(
  (name) => !PUT_FIELDS.includes(name),
);

/** PUT /services/boxes/{box_id}, `box` being the box of the path. */
export function updateBox(call: Call, box: BoxDoc): Outcome {
  const { service, caller } = call;
  const body = call.body as BoxBody;
  if (box.version !== undefined) {
    throw badRequest('this is a version, and versions never change: update the box and make a new version');
  }
  if (body.schema !== undefined && kindOf(service, body.schema) !== box.kind) {
    throw badRequest(`schema: the type of a box cannot change, it is ${box.kind}`);
  }
  const { boxPutMore, boxPutRefuses } = service.rules;
  if (boxPutMore.length > 0) checkMore(call, box, body);
  const kept = differing(
    OTHER_FIELDS.filter((name) => !boxPutMore.includes(name)),
    boxView(service, box),
    body,
  );
  if (boxPutRefuses && kept.length > 0) throw badRequest(`${kept.join(', ')}: PUT of a box cannot change it`);
  const next = changed(call, box, body);
  if (body.variables !== undefined) checkVariables(service, caller, next.variables, box.variables);
  if (body.events !== undefined) checkEvents(service, caller, next.fields['events'], box.fields['events']);
  if (next.name !== box.name) checkName(service, box.owner, next.name, box.id);
  if (body.variables !== undefined) checkNesting(service, next);
  const headers = warningHeader([...keptWarnings(kept), ...profileWarnings(next.fields['profile'])]);
  if (body.version !== undefined) {
    const { box: of } = body.version as { box?: string };
    if (of !== undefined && of !== box.id)
      throw badRequest(`version.box: "${of}" is not the "${box.id}" of the path`);
    const version = makeVersion(service, next, body.version);
    spreadVersion(service, version);
    return { kind: 'text', text: boxText(service, version), headers };
  }
  const stored = service.store.boxes.put({ ...next, updated: service.time.stamp() });
  return { kind: 'text', text: boxText(service, stored), headers };
}

/** What PUT changes beyond the interface's list is judged like in a create request. */
function checkMore(call: Call, box: BoxDoc, body: BoxBody): void {
  call.validation.check(MORE_SCHEMAS[box.kind], body);
  const provider = body['provider_id'];
  if (provider !== undefined && provider !== box.fields['provider_id'])
    checkProvider(call, box.kind, provider);
}

const MORE_SCHEMAS = {
  script: Type.Partial(KIND_FIELDS.script),
  policy: Type.Partial(KIND_FIELDS.policy),
  cloudformation: Type.Partial(KIND_FIELDS.cloudformation),
  docker: Type.Partial(KIND_FIELDS.docker),
};

/** The box with what `body` changes, its stamp excepted. */
function changed({ service }: Call, box: BoxDoc, body: BoxBody): BoxDoc {
  const own: Partial<Record<string, unknown>> = {};
  const fields = { ...box.fields };
  for (const name of [...PUT_FIELDS, ...service.rules.boxPutMore]) {
    const value = body[name];
    if (value === undefined) continue;
    if (OWN_FIELDS.has(name)) own[name] = value;
    else if (name in KIND_DEFAULTS[box.kind] || name === 'files' || name === 'ports') fields[name] = value;
    else if (!isBlank(value)) throw badRequest(`${name}: a ${box.kind} box has none`);
  }
  if (own['icon'] === null) own['icon'] = '';
  if (body.variables !== undefined) {
    own['variables'] = unmasked(service, body.variables, box.variables).map(normalVariable);
  }
  return { ...box, ...own, fields };
}
