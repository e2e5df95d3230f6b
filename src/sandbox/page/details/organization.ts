import { administers } from '../../access.ts';
import type { OrganizationDoc } from '../../model.ts';
import { fieldsOf, type OrganizationFields } from '../../organizations/fields.ts';
import type { Ask, Shown } from '../ask.ts';
import { html, type Html, type Part } from '../html.ts';
import { facts, nothing, part, table, tag, time } from '../pieces.ts';
import { columns, detailPage, missing } from './detail.ts';

/** So many users are named; the others are counted. */
const MAX_USERS = 200;

/** The caller's own organization: there is no other that it could read. */
export function organizationDetail(ask: Ask): Shown {
  const { service, caller } = ask;
  const organization = service.store.organizations.get(caller.organization);
  if (organization === undefined) {
    return missing('organization', 'Organization', 'organization', caller.organization);
  }
  const fields = fieldsOf(organization);
  return detailPage({
    section: 'organization',
    name: fields.name,
    id: organization.id,
    marks: administers(caller, organization) ? tag('you administer it') : undefined,
    content: columns(
      html`${membersPart(ask)} ${providersPart(fields)} ${tagsPart(fields)} ${webhooksPart(fields)}
      ${costPart(fields)}`,
      part('facts', 'Facts', factsOf(organization)),
    ),
  });
}

const onOff = (switches: object): Part =>
  Object.entries(switches)
    .filter(([, value]) => typeof value === 'boolean')
    .map(
      ([name, value]) =>
        html`<span class="switch ${value === true ? 'on' : ''}"
          >${name}: ${value === true ? 'on' : 'off'}</span
        > `,
    );

function factsOf(organization: OrganizationDoc): Html {
  const { administrators, authentication, features } = fieldsOf(organization);
  const domains = organization.fields['domains'];
  return facts([
    ['Administrators', administrators.join(', ')],
    ['Domains', Array.isArray(domains) ? domains.join(', ') : undefined],
    ['Log in with', onOff(authentication)],
    ['Features', onOff(features)],
    ['Groups read from LDAP', organization.ldap_last_sync_completed ?? undefined],
    ['Created', time(organization.created)],
    ['Updated', time(organization.updated)],
  ]);
}

/** Names only: who else is there is no secret among colleagues, their email is. */
function membersPart({ service, caller }: Ask): Html {
  const users = service.store.workspaces
    .all()
    .filter(({ kind, organizations }) => kind === 'personal' && organizations.includes(caller.organization));
  const rows = users.slice(0, MAX_USERS).map(({ name, created }) => [name, time(created)]);
  return part(
    'users',
    'Users',
    html`${table(['User', 'Since (UTC)'], rows, 'Users')}
    ${users.length > MAX_USERS && nothing(`And ${users.length - MAX_USERS} more.`)}`,
    html`<span class="count">${users.length}</span>`,
  );
}

function providersPart({ providers }: OrganizationFields): Html {
  const rows = providers.map(({ type, enabled, description, pricing }) => [
    type,
    enabled ? 'enabled' : 'not enabled',
    description ?? '',
    String(pricing.length),
  ]);
  return part(
    'providers',
    'Kinds of provider',
    rows.length === 0
      ? nothing('It lists none, so all are allowed.')
      : table(['Type', 'State', 'Description|wide', 'Prices|num wide'], rows, 'Kinds of provider'),
  );
}

function tagsPart({ tags }: OrganizationFields): Html {
  const rows = tags.map(({ name, type, value }) => [
    name,
    type,
    value ?? html`<span class="muted">computed</span>`,
  ]);
  return part(
    'tags',
    'Tags',
    rows.length === 0 ? nothing('No tags.') : table(['Name', 'Type', 'Value'], rows, 'Tags'),
  );
}

function webhooksPart({ webhooks }: OrganizationFields): Html {
  return part(
    'webhooks',
    'Webhooks',
    webhooks.length === 0
      ? nothing('None is called.')
      : html`<ul class="plain">
          ${webhooks.map((url) => html`<li class="mono">${url}</li>`)}
        </ul>`,
  );
}

function costPart({ cost_centers: centers }: OrganizationFields): Html {
  if (centers.length === 0) return html``;
  const rows = centers.map(({ name, enforce, workspaces, quotas }) => [
    name,
    enforce ? 'enforced' : 'told only',
    workspaces.join(', '),
    quotas
      .map(({ cost, allocated }) => `${allocated.length} allocated${cost === undefined ? '' : ` of ${cost}`}`)
      .join('; '),
  ]);
  return part(
    'cost-centers',
    'Cost centers',
    table(['Name', 'Quota', 'Workspaces', 'Allocated|wide'], rows, 'Cost centers'),
  );
}
