import type { BoxDoc } from '../model.ts';
import type { Service } from '../service.ts';

/** The icon is a URI, or not there. */
export function iconOf({ icon }: BoxDoc): { icon?: string } {
  return icon === '' ? {} : { icon };
}

/** A box as the interface document's section 2.1 has it. */
export function boxView(service: Service, box: BoxDoc): Record<string, unknown> {
  return {
    id: box.id,
    uri: `/services/boxes/${box.id}`,
    schema: `${service.schemaBase}/boxes/${box.kind}`,
    name: box.name,
    description: box.description,
    owner: box.owner,
    organization: box.organization,
    visibility: box.visibility,
    members: box.members,
    ...iconOf(box),
    created: box.created,
    updated: box.updated,
    deleted: box.deleted,
    variables: box.variables.map(service.rules.showVariable),
    automatic_updates: box.automatic_updates,
    ...(box.draft_from === undefined ? {} : { draft_from: box.draft_from }),
    ...(box.version === undefined ? {} : { version: box.version }),
    ...Object.fromEntries(Object.entries(box.fields).filter(([, value]) => value !== null)),
  };
}

export function boxText(service: Service, box: BoxDoc): string {
  return service.views.text('box', box, () => boxView(service, box));
}
