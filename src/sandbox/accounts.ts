import { passwordHash, grantToken } from './security/tokens.ts';
import type { AccountDoc } from './model.ts';
import { organizationDefaults } from './organizations/defaults.ts';
import { TEST_PROVIDER_ID } from './providers/view.ts';
import type { Service } from './service.ts';
import { workspaceId } from './workspaces/view.ts';

/** A user to create. */
export interface AccountSpec {
  email: string;
  password: string;
  /** Made valid besides those that logins give. */
  token?: string;
  /** Made when it does not exist. @default public */
  organization?: string;
  /** May change the organization. The first user of an organization always may. */
  administrator?: boolean;
}

/** Creates a user with a personal workspace and, for the first one, the organization. */
export function createAccount(service: Service, spec: AccountSpec): AccountDoc {
  const { store, ids, time } = service;
  const email = spec.email.toLowerCase();
  if (store.accounts.by('email', email).length > 0) throw new Error(`there is a user ${email} already`);
  const now = time.stamp();
  const organization = spec.organization ?? 'public';
  const user = workspaceId(service, email.split('@')[0] ?? email);
  const known = store.organizations.get(organization);
  const fields = known?.fields ?? organizationDefaults(organization);
  const administrators = fields['administrators'] as string[];
  if (known === undefined || spec.administrator === true) {
    store.organizations.put({
      id: organization,
      created: now,
      ldap_last_sync_completed: null,
      ...known,
      updated: now,
      fields: { ...fields, administrators: [...administrators, user] },
    });
  }
  store.workspaces.put({
    id: user,
    kind: 'personal',
    name: user,
    icon: '',
    created: now,
    updated: now,
    deleted: null,
    organizations: [organization],
    owner: user,
    members: [],
    ldap_groups: [],
    email,
    fields: {},
  });
  const salt = ids.hex(16);
  const account = store.accounts.put({
    id: ids.uuid(),
    email,
    salt,
    hash: passwordHash(spec.password, salt),
    workspace: user,
    organization,
  });
  if (spec.token !== undefined) grantToken(service, account.id, spec.token);
  if (store.providers.get(TEST_PROVIDER_ID) === undefined) addTestProvider(service, account);
  return account;
}

/** service-behaviour.md 5: the Test Provider, ready from the start. */
function addTestProvider(service: Service, account: AccountDoc): void {
  const now = service.time.stamp();
  service.store.providers.put({
    id: TEST_PROVIDER_ID,
    kind: 'test',
    type: 'Test Provider',
    name: 'Test Provider',
    description: 'Machines on loopback addresses, for trying things out',
    icon: '',
    owner: account.workspace,
    organization: account.organization,
    members: [],
    state: 'ready',
    services: [
      { name: 'Linux Compute', locations: [{ name: 'Simulated Location' }] },
      { name: 'Windows Compute', locations: [{ name: 'Simulated Location' }] },
    ],
    created: now,
    updated: now,
    deleted: null,
    shared: true,
    invalid: false,
    images: [],
    fields: {},
  });
}
