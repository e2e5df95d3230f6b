import { fieldsOf } from '../organizations/fields.ts';
import { organizationDefaults } from '../organizations/defaults.ts';
import type { Store } from '../store/store.ts';
import { importState } from './import.ts';
import { exportState } from './export.ts';

/** Removes everything but users, workspaces and shared providers; organizations get their defaults back. */
export function resetState(store: Store, now: number): void {
  const state = exportState(store, { now, secrets: true });
  const { accounts = [], workspaces = [], providers = [] } = state.tables;
  const organizations = store.organizations.all().map((organization) => ({
    ...organization,
    ldap_last_sync_completed: null,
    fields: {
      ...organizationDefaults(organization.id),
      administrators: fieldsOf(organization).administrators,
    },
  }));
  importState(store, {
    ...state,
    tables: {
      accounts,
      workspaces,
      organizations,
      providers: providers.filter(({ shared }) => shared === true),
    },
    gone: {},
    content: {},
  });
}
