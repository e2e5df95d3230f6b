import { canChange, canSeeProvider } from '../../access.ts';
import type { ProviderDoc } from '../../model.ts';
import type { Ask, Shown } from '../ask.ts';
import { actions } from '../forms/action.ts';
import { html, type Html, type Part } from '../html.ts';
import { alert, count, facts, link, nothing, part, pathOf, state, table, tag, time } from '../pieces.ts';
import { boxesOf } from '../visible.ts';
import { columns, detailPage, missing } from './detail.ts';

const MAX_LOGS = 200;

export function providerDetail(ask: Ask, notice = '', status?: number): Shown {
  const { service, caller, params } = ask;
  const provider = service.store.providers.get(params['id'] ?? '');
  if (provider === undefined || !canSeeProvider(service, caller, provider)) {
    return missing('providers', 'Providers', 'provider', params['id'] ?? '');
  }
  const refused = canChange(caller, provider) ? undefined : 'You may use this provider, not change it';
  return detailPage({
    section: 'providers',
    list: 'Providers',
    name: provider.name,
    id: provider.id,
    marks: html`${state(provider.state)} ${tag(provider.type)}`,
    notice: alert(notice),
    actions: actions([
      {
        name: 'sync',
        label: 'Sync',
        to: `${pathOf('providers', provider.id)}/sync`,
        title: `Sync ${provider.name}?`,
        what: 'The service reads again what the account offers.',
        refused,
      },
      {
        name: 'delete',
        label: 'Delete',
        to: `${pathOf('providers', provider.id)}/delete`,
        title: `Delete ${provider.name}?`,
        what: 'The account is forgotten. That is refused while something runs on it.',
        danger: true,
        refused,
      },
    ]),
    content: columns(
      html`${provider.description !== '' && html`<p class="lead">${provider.description}</p>`}
      ${servicesPart(provider)} ${boxesPart(ask, provider)} ${logsPart(ask, provider)}`,
      part('facts', 'Facts', factsOf(provider)),
    ),
    busy: provider.state !== 'ready',
    ...(status === undefined ? {} : { status }),
  });
}

function factsOf(provider: ProviderDoc): Html {
  // Secrets were masked when the provider was stored.
  const own = Object.entries(provider.fields).map(([name, value]): [string, Part] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return facts([
    ['Owner', provider.owner],
    ['Organization', provider.organization],
    ['Shared with', provider.members.map(({ workspace, role }) => `${workspace} (${role})`).join(', ')],
    ...own,
    ['Created', time(provider.created)],
    ['Updated', time(provider.updated)],
  ]);
}

function servicesPart(provider: ProviderDoc): Html {
  const rows = provider.services.map((entry) => {
    const locations = (entry['locations'] ?? []) as { name: string }[];
    return [String(entry['name']), locations.map(({ name }) => name).join(', ')];
  });
  const images = provider.images.map(({ name, location, id }) => [name, location, html`<code>${id}</code>`]);
  return html`${part(
    'services',
    'Services',
    rows.length === 0 ? nothing('It offers none yet.') : table(['Service', 'Locations'], rows, 'Services'),
  )}
  ${images.length > 0 && part('images', 'Machine images', table(['Image', 'Location', 'Id|wide'], images, 'Images'))}`;
}

function boxesPart(ask: Ask, provider: ProviderDoc): Html {
  const boxes = boxesOf(ask).filter(
    (box) => box.version === undefined && box.fields['provider_id'] === provider.id,
  );
  const rows = boxes.map((box) => [link(pathOf('policy-boxes', box.id), box.name), box.owner]);
  return part(
    'policy-boxes',
    'Policy boxes that deploy on it',
    rows.length === 0
      ? html`<p class="muted">None. ${link('/page/boxes/new?type=policy', 'Make one')}.</p>`
      : table(['Policy box', 'Owner'], rows, 'Policy boxes'),
  );
}

function logsPart({ service }: Ask, provider: ProviderDoc): Html {
  const all = service.store.provider_logs.by('provider', provider.id);
  const logs = all.slice(-MAX_LOGS).toReversed();
  const left = all.length - logs.length;
  const rows = logs.map((log) => [time(log.created), log.level, log.text]);
  return part(
    'logs',
    'Logs',
    rows.length === 0
      ? nothing('Nothing was logged.')
      : html`${table(['At (UTC)', 'Level|mid', 'Says'], rows, 'Logs')}
        ${left > 0 && nothing(`${count(left, 'older line', 'older lines')} left out`)}`,
  );
}
