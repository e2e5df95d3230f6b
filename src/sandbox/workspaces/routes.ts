import { Type } from 'typebox';
import { belongsTo, canChange, canSeeProvider } from '../access.ts';
import { boxText } from '../boxes/view.ts';
import { differing, keptWarnings } from '../edge/kept.ts';
import { checkSameRecord, idsOf, listOf, param, type Call, type Outcome, type Route } from '../edge/route.ts';
import { warningHeader } from '../edge/warning.ts';
import { badRequest, conflict, forbidden, notFound } from '../http.ts';
import { instanceList } from '../instances/lookup.ts';
import type { Member, WorkspaceDoc } from '../model.ts';
import { BoxList } from '../boxes/schemas.ts';
import { InstanceEntry } from '../instances/schemas.ts';
import { ProviderAnswer } from '../providers/schemas.ts';
import { providerEntry } from '../providers/view.ts';
import { Member as MemberSchema, Timestamp } from '../schemas.ts';
import { workspaceId, workspaceView } from './view.ts';

const name = Type.String({ minLength: 1, maxLength: 256 });
const texts = Type.Array(Type.String({ minLength: 1, maxLength: 512 }), { maxItems: 1000 });
const WorkspaceBody = Type.Object({
  schema: Type.Optional(Type.String()),
  name: Type.Optional(name),
  owner: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  members: Type.Optional(Type.Array(MemberSchema, { maxItems: 1000 })),
  organizations: Type.Optional(texts),
  icon: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Null()])),
  ldap_groups: Type.Optional(texts),
  // Of personal workspaces.
  email: Type.Optional(Type.String({ minLength: 3, maxLength: 256, pattern: '^[^\\s@]+@[^\\s@]+$' })),
  take_tour: Type.Optional(Type.Boolean()),
});
const NewWorkspace = Type.Object({ ...WorkspaceBody.properties, schema: Type.String(), name });
const WorkspaceAnswer = Type.Object({
  id: Type.String(),
  uri: Type.String(),
  name: Type.String(),
  schema: Type.String(),
  created: Timestamp,
  updated: Timestamp,
  deleted: Type.Union([Timestamp, Type.Null()]),
  icon: Type.String(),
  // Team workspaces.
  organizations: Type.Optional(texts),
  members: Type.Optional(Type.Array(MemberSchema)),
  owner: Type.Optional(Type.String()),
  ldap_groups: Type.Optional(texts),
  // Personal workspaces.
  organization: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  group_dns: Type.Optional(Type.Array(Type.Unknown())),
  add_provider: Type.Optional(Type.Boolean()),
  deploy_instance: Type.Optional(Type.Boolean()),
  take_tour: Type.Optional(Type.Boolean()),
});

interface Body {
  schema?: string;
  name?: string;
  owner?: string;
  members?: Member[];
  organizations?: string[];
  icon?: string | null;
  ldap_groups?: string[];
  email?: string;
  take_tour?: boolean;
  [field: string]: unknown;
}

/** The workspace of the path, when the caller belongs to it. @throws Refusal 404 */
function own(call: Call): WorkspaceDoc {
  const id = param(call, 'workspace_id');
  const workspace = call.service.store.workspaces.get(id);
  // Somebody else's workspace looks like none: the interface names no 403 for reading one.
  if (workspace === undefined || !belongsTo(call.caller, workspace)) {
    throw notFound(`there is no workspace ${id} that you belong to`);
  }
  return workspace;
}

function changeable(call: Call): WorkspaceDoc {
  const workspace = own(call);
  if (!canChange(call.caller, workspace))
    throw forbidden(`you may read workspace ${workspace.id}, not change it`);
  checkSameRecord(call, workspace.id);
  return workspace;
}

const show = (call: Call, workspace: WorkspaceDoc): Outcome => ({
  kind: 'json',
  value: workspaceView(call.service, workspace),
});

/** Members that were there before are not judged again: their workspace may be gone. */
function checkMembers(
  call: Call,
  members: readonly Member[] | undefined,
  before: readonly Member[] = [],
): void {
  const known = new Set(before.map(({ workspace }) => workspace));
  for (const member of members ?? []) {
    if (known.has(member.workspace)) continue;
    if (call.service.store.workspaces.get(member.workspace) === undefined) {
      throw badRequest(`members: there is no workspace ${member.workspace}`);
    }
  }
}

function checkOrganizations(call: Call, names: readonly string[] | undefined): void {
  for (const organization of names ?? []) {
    if (call.service.store.organizations.get(organization) === undefined) {
      throw badRequest(`organizations: there is no organization ${organization}`);
    }
  }
}

function create(call: Call): Outcome {
  const { service, caller } = call;
  const body = call.body as Body & { name: string };
  const schema = `${service.schemaBase}/workspaces/team`;
  if (body.schema !== schema) throw badRequest(`schema: must be ${schema}`);
  if (body.owner !== undefined && body.owner !== caller.personal) {
    throw badRequest(`owner: you can create workspaces for yourself (${caller.personal}) only`);
  }
  checkMembers(call, body.members);
  checkOrganizations(call, body.organizations);
  const now = service.time.stamp();
  const workspace = service.store.workspaces.put({
    id: workspaceId(service, body.name),
    kind: 'team',
    name: body.name,
    icon: body.icon ?? '',
    created: now,
    updated: now,
    deleted: null,
    organizations: body.organizations ?? [caller.organization],
    owner: caller.personal,
    members: body.members ?? [],
    ldap_groups: body.ldap_groups ?? [],
    fields: {},
  });
  return { ...show(call, workspace), status: service.rules.workspaceCreated } as Outcome;
}

function update(call: Call): Outcome {
  const { service } = call;
  const workspace = changeable(call);
  const body = call.body as Body;
  checkMembers(call, body.members, workspace.members);
  checkOrganizations(call, body.organizations);
  const team =
    workspace.kind === 'team'
      ? {
          members: body.members ?? workspace.members,
          organizations: body.organizations ?? workspace.organizations,
          ldap_groups: body.ldap_groups ?? workspace.ldap_groups,
          owner: newOwner(call, workspace, body.owner),
        }
      : personalFields(call, workspace, body);
  const kept = differing(KEPT[workspace.kind], workspaceView(service, workspace), body);
  const stored = service.store.workspaces.put({
    ...workspace,
    ...team,
    name: body.name ?? workspace.name,
    icon: body.icon === undefined ? workspace.icon : (body.icon ?? ''),
    updated: service.time.stamp(),
  });
  return { ...show(call, stored), headers: warningHeader(keptWarnings(kept)) } as Outcome;
}

/** Fields that a client can have meant to change and that stay as they are. */
const KEPT = {
  personal: [
    'owner',
    'organization',
    'organizations',
    'members',
    'group_dns',
    'add_provider',
    'deploy_instance',
  ],
  team: ['organization', 'group_dns', 'email', 'take_tour'],
} as const;

/** What a user changes of the own personal workspace; the email is what the user logs in with. */
function personalFields(call: Call, workspace: WorkspaceDoc, body: Body): Partial<WorkspaceDoc> {
  const { accounts } = call.service.store;
  const email = body.email?.toLowerCase();
  if (email !== undefined && email !== workspace.email) {
    if (accounts.by('email', email).length > 0) throw conflict(`email: there is a user ${email} already`);
    const [account] = accounts.by('workspace', workspace.id);
    if (account !== undefined) accounts.put({ ...account, email });
  }
  return {
    ...(email === undefined ? {} : { email }),
    fields: { ...workspace.fields, ...(body.take_tour === undefined ? {} : { take_tour: body.take_tour }) },
  };
}

function newOwner(call: Call, workspace: WorkspaceDoc, owner: string | undefined): string {
  if (owner === undefined || owner === workspace.owner) return workspace.owner;
  if (workspace.owner !== call.caller.personal) {
    throw forbidden(`only the owner ${workspace.owner} can give workspace ${workspace.id} away`);
  }
  if (call.service.store.workspaces.get(owner)?.kind !== 'personal') {
    throw badRequest(`owner: there is no user ${owner}`);
  }
  return owner;
}

function remove(call: Call): Outcome {
  const { service, caller } = call;
  const workspace = own(call);
  if (workspace.kind === 'personal') throw forbidden('a personal workspace cannot be removed');
  if (workspace.owner !== caller.personal) throw forbidden(`only the owner ${workspace.owner} can remove it`);
  const { boxes, instances, providers } = service.store;
  for (const [kind, table] of Object.entries({ boxes, instances, providers })) {
    const count = table.by('owner', workspace.id).length;
    if (count > 0)
      throw forbidden(`workspace ${workspace.id} still owns ${count} ${kind}; remove them first`);
  }
  service.store.workspaces.delete(workspace.id);
  return { kind: 'none' };
}

function ofWorkspace<T>(table: { by(index: string, key: string): T[] }, id: string): T[] {
  return [...new Set([...table.by('owner', id), ...table.by('member', id)])];
}

const filterIds = <T extends { id: string }>(call: Call, records: readonly T[]): readonly T[] => {
  const ids = call.service.rules.idsEverywhere ? idsOf(call) : undefined;
  return ids === undefined ? records : records.filter((record) => ids.has(record.id));
};

/** Interface document section 4.6. */
export const workspaceRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/services/workspaces',
    summary: 'Personal and team workspaces of the caller',
    success: 200,
    errors: [400],
    query: ['ids'],
    answer: Type.Array(WorkspaceAnswer),
    handler: (call) => {
      const mine = call.listing.workspaces
        .all()
        .filter((workspace) => call.caller.workspaces.has(workspace.id));
      return {
        kind: 'json',
        value: filterIds(call, mine).map((workspace) => workspaceView(call.service, workspace)),
      };
    },
  },
  {
    method: 'POST',
    path: '/services/workspaces',
    summary: 'Create a team workspace',
    success: 200,
    alsoSuccess: [201],
    errors: [400, 409],
    body: NewWorkspace,
    variants: [
      Type.Object({ ...NewWorkspace.properties, schema: Type.Literal('{schema_base}/workspaces/team') }),
    ],
    answer: WorkspaceAnswer,
    handler: create,
  },
  {
    method: 'GET',
    path: '/services/workspaces/{workspace_id}',
    summary: 'Read a workspace',
    success: 200,
    errors: [404, 409],
    answer: WorkspaceAnswer,
    handler: (call) => show(call, own(call)),
  },
  {
    method: 'PUT',
    path: '/services/workspaces/{workspace_id}',
    summary: 'Update a workspace',
    success: 200,
    errors: [400, 403, 404, 409],
    body: WorkspaceBody,
    answer: WorkspaceAnswer,
    handler: update,
  },
  {
    method: 'DELETE',
    path: '/services/workspaces/{workspace_id}',
    summary: 'Remove a team workspace',
    success: 204,
    errors: [403, 404],
    handler: remove,
  },
  {
    method: 'GET',
    path: '/services/workspaces/{workspace_id}/providers',
    summary: 'Providers of a workspace',
    success: 200,
    errors: [400],
    query: ['ids'],
    answer: Type.Array(ProviderAnswer),
    handler: (call) => {
      const { id } = own(call);
      const shared = call.listing.providers.all().filter((provider) => provider.shared);
      const found = [...new Set([...shared, ...ofWorkspace(call.listing.providers, id)])];
      return {
        kind: 'json',
        value: filterIds(
          call,
          found.filter((provider) => canSeeProvider(call.service, call.caller, provider)),
        ).map((provider) => providerEntry(call.service, provider)),
      };
    },
  },
  {
    method: 'GET',
    path: '/services/workspaces/{workspace_id}/boxes',
    summary: 'Boxes of a workspace',
    success: 200,
    errors: [400],
    answer: BoxList,
    query: ['ids'],
    handler: (call) => {
      const boxes = ofWorkspace(call.listing.boxes, own(call).id).filter((box) => box.version === undefined);
      return listOf(filterIds(call, boxes), (box) => boxText(call.service, box));
    },
  },
  {
    method: 'GET',
    path: '/services/workspaces/{workspace_id}/instances',
    summary: 'Instances of a workspace',
    success: 200,
    errors: [400],
    answer: Type.Array(InstanceEntry),
    query: ['ids', 'service'],
    handler: (call) => {
      const { id } = own(call);
      const service = call.query.get('service');
      const instances = ofWorkspace(call.listing.instances, id);
      return instanceList(
        call,
        service === null ? instances : instances.filter((instance) => instance.service.id === service),
      );
    },
  },
];
