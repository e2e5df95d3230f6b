import type { BoxDoc, InstanceDoc, Member, OrganizationDoc, ProviderDoc, WorkspaceDoc } from './model.ts';
import { badRequest } from './http.ts';
import { fieldsOf } from './organizations/fields.ts';
import type { Caller, Service } from './service.ts';

interface Owned {
  owner: string;
  members: readonly Member[];
}

/** The caller of an account, with the workspaces it may act for. */
export function callerOf(service: Service, accountId: string): Caller | undefined {
  const account = service.store.accounts.get(accountId);
  if (account === undefined) return undefined;
  const { workspaces } = service.store;
  const teams = [...workspaces.by('owner', account.workspace), ...workspaces.by('member', account.workspace)];
  const writable = (team: WorkspaceDoc): boolean =>
    team.owner === account.workspace ||
    team.members.some(({ workspace, role }) => workspace === account.workspace && role === 'collaborator');
  return {
    account: account.id,
    email: account.email,
    personal: account.workspace,
    organization: account.organization,
    workspaces: new Set([account.workspace, ...teams.map((team) => team.id)]),
    writes: new Set([account.workspace, ...teams.filter(writable).map((team) => team.id)]),
  };
}

function sharedWith(workspaces: ReadonlySet<string>, record: Owned, roles: readonly string[]): boolean {
  return (
    workspaces.has(record.owner) ||
    record.members.some((member) => roles.includes(member.role) && workspaces.has(member.workspace))
  );
}

/**
 * Owner, member of whatever role, or visible by interface document section 2.1. A version is seen by whoever
 * sees its box now, not by those who saw it when it was made.
 */
export function canSeeBox(service: Service, caller: Caller, record: BoxDoc): boolean {
  const box = service.store.boxes.get(record.version?.box ?? '') ?? record;
  return (
    sharedWith(caller.workspaces, box, ['collaborator', 'read']) ||
    box.visibility === 'public' ||
    (box.visibility === 'organization' && box.organization === caller.organization)
  );
}

export function canSee(caller: Caller, record: InstanceDoc | ProviderDoc): boolean {
  return sharedWith(caller.workspaces, record, ['collaborator', 'read']);
}

/** Owner or collaborator; the role `read` does not suffice. */
export function canChange(caller: Caller, record: Owned): boolean {
  return sharedWith(caller.writes, record, ['collaborator']);
}

/**
 * Whether the caller may use a provider: its own, or one that is shared with a workspace of the caller or with
 * the organization (a member of that name), unless the organization switched sharing off.
 */
export function canSeeProvider(service: Service, caller: Caller, provider: ProviderDoc): boolean {
  if (provider.shared || caller.workspaces.has(provider.owner)) return true;
  const organization = service.store.organizations.get(provider.organization);
  if (organization !== undefined && !fieldsOf(organization).features.provider_sharing) return false;
  const all = provider.members.some((member) => member.workspace === caller.organization);
  return all || canSee(caller, provider);
}

/** Whether the caller is the user, owner or a member of the workspace. */
export function belongsTo(caller: Caller, workspace: WorkspaceDoc): boolean {
  return caller.workspaces.has(workspace.id);
}

export function administers(caller: Caller, organization: OrganizationDoc): boolean {
  const { administrators } = organization.fields;
  return Array.isArray(administrators) && administrators.includes(caller.personal);
}

/** The workspace that a new record is to belong to: the one named, or the caller's personal one. */
export function ownerFor(caller: Caller, owner: unknown): string {
  if (owner === undefined || owner === null || owner === '') return caller.personal;
  if (typeof owner === 'string' && caller.writes.has(owner)) return owner;
  throw badRequest(
    `owner: ${JSON.stringify(owner)} is not a workspace of yours; name your personal workspace "${caller.personal}" or a team that you belong to`,
  );
}
