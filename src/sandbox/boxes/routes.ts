import { Type } from 'typebox';
import { canChange, canSeeBox } from '../access.ts';
import { checkSameRecord, idsOf, listOf, param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { forbidden, notFound } from '../http.ts';
import type { BoxDoc } from '../model.ts';
import { createBox } from './create.ts';
import { boxDiff } from './diff.ts';
import { unmasked } from './masks.ts';
import { BoxAnswer, BoxList, CommonBox, DiffAnswer, NEW_BOX_VARIANTS, NewBox } from './schemas.ts';
import { boxChildren } from './tree.ts';
import { updateBox } from './update.ts';
import { versionsOf } from './versions.ts';
import { boxText, iconOf } from './view.ts';

/** The box of the path. @throws Refusal 404 or 403 */
export function visibleBox(call: Call): BoxDoc {
  const id = param(call, 'box_id');
  const box = call.service.store.boxes.get(id);
  if (box === undefined) throw notFound(`there is no box ${id}`);
  if (!canSeeBox(call.service, call.caller, box)) throw forbidden(`box ${id} is not shared with you`);
  return box;
}

function changeableBox(call: Call): BoxDoc {
  const box = visibleBox(call);
  if (!canChange(call.caller, box)) throw forbidden(`you may read box ${box.id}, not change it`);
  checkSameRecord(call, box.id);
  return box;
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

const list = (call: Call, boxes: readonly BoxDoc[]): Outcome =>
  listOf(boxes, (box) => boxText(call.service, box));

/** The box of that id, where the caller can see it. */
function seen({ service, caller }: Call, id: string): BoxDoc | undefined {
  const box = service.store.boxes.get(id);
  return box !== undefined && canSeeBox(service, caller, box) ? box : undefined;
}

/** What the caller's personal workspace has access to; versions are listed by their box only. */
function accessible(call: Call): BoxDoc[] {
  const { caller, listing } = call;
  const found = new Map<string, BoxDoc>();
  for (const box of [
    ...listing.boxes.by('owner', caller.personal),
    ...listing.boxes.by('member', caller.personal),
    ...listing.boxes
      .by('visibility', 'organization')
      .filter((other) => canSeeBox(call.service, caller, other)),
    ...listing.boxes.by('visibility', 'public'),
  ]) {
    if (box.version === undefined) found.set(box.id, box);
  }
  return [...found.values()];
}

/** The differences of the body and the box; values that are not shown are compared all the same. */
function compare({ service, body }: Call, box: BoxDoc): unknown {
  const other = body as { variables?: BoxDoc['variables'] };
  const variables =
    other.variables === undefined ? {} : { variables: unmasked(service, other.variables, box.variables) };
  return boxDiff(box, { ...other, ...variables }, service.rules.showVariable);
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
      return list(
        call,
        named.filter((box) => box !== undefined && canSeeBox(call.service, call.caller, box)) as BoxDoc[],
      );
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
    handler: createBox,
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
    errors: [400, 403, 404, 409],
    body: CommonBox,
    answer: BoxAnswer,
    handler: (call) => updateBox(call, changeableBox(call)),
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
      const children = boxChildren(box, (id) => seen(call, id)).map((child) => child.box);
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
        .map((variable) => seen(call, String(variable.value)));
      return {
        kind: 'json',
        value: [...new Set(targets)]
          .filter((box) => box !== undefined)
          .map((box) => ({ id: box.id, uri: `/services/boxes/${box.id}`, name: box.name, ...iconOf(box) })),
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
    answer: DiffAnswer,
    handler: (call) => ({ kind: 'json', value: compare(call, visibleBox(call)) }),
  },
];
