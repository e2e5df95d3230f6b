import { Type } from 'typebox';
import { canChange, canSee, canSeeProvider, ownerFor } from '../access.ts';
import { checkSameRecord, idsOf, param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { badRequest, conflict, forbidden, notFound } from '../http.ts';
import type { Member, ProviderDoc } from '../model.ts';
import { checkProviderEnabled } from '../organizations/gates.ts';
import { startPhase, usersOf } from './lifecycle.ts';
import {
  ImageAnswer,
  NewImage,
  NEW_PROVIDER_VARIANTS,
  NewProvider,
  ProviderAnswer,
  ProviderLog,
  ProviderUpdate,
} from './schemas.ts';
import { isUnchanged, maskSecrets, PROVIDER_TYPES, withoutAliases, withStored } from './types.ts';
import { providerEntry, providerView, TEST_PROVIDER_ID } from './view.ts';

interface ProviderBody {
  schema: string;
  type: string;
  name: string;
  description?: string;
  icon?: string | null;
  owner?: string;
  members?: Member[];
  [field: string]: unknown;
}

function visible(call: Call): ProviderDoc {
  const id = param(call, 'provider_id');
  const provider = call.service.store.providers.get(id);
  if (provider === undefined) throw notFound(`there is no provider ${id}`);
  if (!canSeeProvider(call.service, call.caller, provider)) {
    throw forbidden(`provider ${id} is not shared with you`);
  }
  return provider;
}

function changeable(call: Call): ProviderDoc {
  const provider = visible(call);
  if (!canChange(call.caller, provider)) {
    throw forbidden(`you may use provider ${provider.id}, not change it`);
  }
  checkSameRecord(call, provider.id);
  return provider;
}

const show = (call: Call, provider: ProviderDoc): Outcome => ({
  kind: 'json',
  value: providerView(call.service, provider),
});

function checkName(call: Call, owner: string, name: string, except?: string): void {
  const taken = call.service.store.providers
    .by('owner', owner)
    .some((provider) => provider.name === name && provider.id !== except);
  if (taken) throw conflict(`name: workspace "${owner}" already has a provider called "${name}"`);
}

function create(call: Call): Outcome {
  const { service, caller } = call;
  const sent = call.body as ProviderBody;
  const type = PROVIDER_TYPES[sent.type];
  if (type === undefined) throw badRequest(`type: "${sent.type}" is not a provider type`);
  const body = withoutAliases(type, sent);
  const schema = `${service.schemaBase}/${type.kind}/provider`;
  if (body.schema !== schema) throw badRequest(`schema: for ${body.type} it must be ${schema}`);
  if (body['admin_boxes'] !== undefined) throw badRequest('admin_boxes: was removed');
  call.validation.check(fieldsSchema(body.type), body);
  const owner = ownerFor(caller, body.owner);
  checkProviderEnabled(service, caller.organization, body.type);
  checkName(call, owner, body.name);
  const given = Object.fromEntries(Object.keys(type.fields).map((name) => [name, body[name]]));
  const { shown, invalid } = maskSecrets(given);
  const now = service.time.stamp();
  return show(
    call,
    startPhase(
      service,
      {
        id: service.ids.uuid(),
        kind: type.kind,
        type: body.type,
        name: body.name,
        description: body.description ?? '',
        icon: body.icon ?? '',
        owner,
        organization: caller.organization,
        members: [],
        state: 'initializing',
        services: [],
        created: now,
        updated: now,
        deleted: null,
        shared: false,
        invalid,
        images: [],
        fields: shown,
      },
      'initialize',
    ),
  );
}

const SCHEMAS = new Map(
  Object.entries(PROVIDER_TYPES).map(([type, { fields, limits }]) => [
    type,
    Type.Object({ ...fields, ...limits }),
  ]),
);

const TYPE_FIELDS = Object.values(PROVIDER_TYPES).flatMap(({ fields, aliases = {} }) => [
  ...Object.keys(fields),
  ...Object.keys(aliases),
]);

function fieldsSchema(type: string): ReturnType<typeof Type.Object> {
  return SCHEMAS.get(type) ?? Type.Object({});
}

function update(call: Call): Outcome {
  const { service } = call;
  const provider = changeable(call);
  if (provider.state === 'initializing' || provider.state === 'deleting') {
    throw conflict(`provider ${provider.id} is ${provider.state}`);
  }
  const type = PROVIDER_TYPES[provider.type];
  const sent = call.body as Partial<ProviderBody>;
  const body = type === undefined ? sent : withoutAliases(type, sent);
  if (body.name !== undefined) checkName(call, provider.owner, body.name, provider.id);
  for (const { workspace } of body.members ?? []) {
    const known =
      service.store.workspaces.get(workspace) !== undefined ||
      workspace === provider.organization ||
      provider.members.some((member) => member.workspace === workspace);
    if (!known) throw badRequest(`members: there is no workspace ${workspace}`);
  }
  const given = Object.fromEntries(
    Object.keys(type?.fields ?? {})
      .filter((name) => body[name] !== undefined && !isUnchanged(body[name], provider.fields[name]))
      .map((name) => [name, withStored(body[name], provider.fields[name])]),
  );
  call.validation.check(fieldsSchema(provider.type), { ...body, ...provider.fields, ...given });
  const { shown, invalid } = maskSecrets(given);
  const stored = service.store.providers.put({
    ...provider,
    name: body.name ?? provider.name,
    description: body.description ?? provider.description,
    icon: body.icon === undefined ? provider.icon : (body.icon ?? ''),
    members: body.members ?? provider.members,
    fields: { ...provider.fields, ...shown },
    invalid: Object.keys(given).length === 0 ? provider.invalid : invalid,
    updated: service.time.stamp(),
  });
  return show(call, stored);
}

function remove(call: Call): Outcome {
  const { service } = call;
  const provider = changeable(call);
  if (provider.id === TEST_PROVIDER_ID) throw forbidden('the built-in Test Provider stays');
  if (provider.state === 'deleting') throw conflict(`provider ${provider.id} is being deleted`);
  const users = usersOf(service, provider);
  if (users.length > 0) {
    const seen = users.filter((instance) => canSee(call.caller, instance)).map(({ id }) => id);
    const named = seen.length === 0 ? '' : ` (${seen.slice(0, 5).join(', ')})`;
    throw badRequest(
      `provider ${provider.id} is used by ${users.length} instances${named}; terminate them first`,
    );
  }
  startPhase(service, provider, 'delete');
  return { kind: 'none' };
}

function sync(call: Call): Outcome {
  const provider = changeable(call);
  if (provider.state !== 'ready' && provider.state !== 'unavailable') {
    throw conflict(`provider ${provider.id} is ${provider.state}`);
  }
  return show(call, startPhase(call.service, provider, 'sync'));
}

function addImage(call: Call): Outcome {
  const { service } = call;
  const provider = changeable(call);
  const { location, name, description = '' } = call.body as Record<string, string>;
  const locations = PROVIDER_TYPES[provider.type]?.locations ?? [];
  if (location === undefined || !locations.includes(location)) {
    throw badRequest(`location: ${provider.name} has ${locations.join(', ')}`);
  }
  const image = { id: service.ids.hex(12), name: name ?? '', location, description };
  service.store.providers.put({
    ...provider,
    images: [...provider.images, image],
    updated: service.time.stamp(),
  });
  return { kind: 'json', value: image };
}

function removeImage(call: Call): Outcome {
  const provider = changeable(call);
  const id = param(call, 'machine_image_id');
  const location = call.query.get('location');
  const fits = (image: { id: string; location: string }): boolean =>
    image.id === id && (location === null || image.location === location);
  if (!provider.images.some(fits)) throw notFound(`provider ${provider.id} has no image ${id} there`);
  call.service.store.providers.put({
    ...provider,
    images: provider.images.filter((image) => !fits(image)),
    updated: call.service.time.stamp(),
  });
  return { kind: 'none' };
}

/** Interface document section 4.5. */
export const providerRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/services/providers',
    summary: 'Providers that the caller can use',
    success: 200,
    errors: [400],
    query: ['ids'],
    answer: Type.Array(ProviderAnswer),
    handler: (call) => {
      const ids = idsOf(call);
      return {
        kind: 'json',
        value: call.listing.providers
          .all()
          .filter((provider) => canSeeProvider(call.service, call.caller, provider))
          .filter((provider) => ids?.has(provider.id) ?? true)
          .map((provider) => providerEntry(call.service, provider)),
      };
    },
  },
  {
    method: 'POST',
    path: '/services/providers',
    summary: 'Register a provider',
    success: 202,
    errors: [400, 409],
    body: NewProvider,
    variants: NEW_PROVIDER_VARIANTS,
    moreFields: TYPE_FIELDS,
    answer: ProviderAnswer,
    handler: create,
  },
  {
    method: 'GET',
    path: '/services/providers/{provider_id}',
    summary: 'Read a provider',
    success: 200,
    errors: [403, 404],
    answer: ProviderAnswer,
    handler: (call) => show(call, visible(call)),
  },
  {
    method: 'PUT',
    path: '/services/providers/{provider_id}',
    summary: 'Update name, description, members and credentials of a provider',
    success: 200,
    errors: [400, 403, 404, 409],
    body: ProviderUpdate,
    moreFields: TYPE_FIELDS,
    answer: ProviderAnswer,
    handler: update,
  },
  {
    method: 'DELETE',
    path: '/services/providers/{provider_id}',
    summary: 'Remove a provider that nothing runs on',
    success: 202,
    errors: [400, 403, 404, 409],
    handler: remove,
  },
  {
    method: 'PUT',
    path: '/services/providers/{provider_id}/sync',
    summary: 'Read the account anew',
    success: 202,
    errors: [403, 404, 409],
    answer: ProviderAnswer,
    handler: sync,
  },
  {
    method: 'GET',
    path: '/services/providers/{provider_id}/logs',
    summary: 'What happened to a provider, the newest first',
    success: 200,
    errors: [403, 404],
    answer: Type.Array(ProviderLog),
    handler: (call) => ({
      kind: 'json',
      value: call.service.store.provider_logs.by('provider', visible(call).id).toReversed(),
    }),
  },
  {
    method: 'POST',
    path: '/services/providers/{provider_id}/images',
    summary: 'Add a machine image',
    success: 202,
    errors: [400, 403, 404],
    body: NewImage,
    answer: ImageAnswer,
    handler: addImage,
  },
  {
    method: 'DELETE',
    path: '/services/providers/{provider_id}/images/{machine_image_id}',
    summary: 'Remove a machine image',
    success: 202,
    errors: [403, 404],
    query: ['location'],
    handler: removeImage,
  },
];
