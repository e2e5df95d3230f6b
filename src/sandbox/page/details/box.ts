import { canChange, canSeeBox, canSeeProvider } from '../../access.ts';
import { blobByUrl } from '../../blobs/url.ts';
import type { Node } from '../../boxes/tree.ts';
import { versionsOf, versionText } from '../../boxes/versions.ts';
import type { BoxDoc } from '../../model.ts';
import type { Ask, Shown } from '../ask.ts';
import { actions, type Action } from '../forms/action.ts';
import { html, type Html, type Part } from '../html.ts';
import { boxPath, isPolicy, providerId } from '../lists/boxes.ts';
import {
  alert,
  count,
  facts,
  link,
  mono,
  nothing,
  part,
  pathOf,
  state,
  table,
  tag,
  time,
} from '../pieces.ts';
import { boxesIn, boxesOf, instancesOf, visibleTree } from '../visible.ts';
import { sizeText, textOf } from './blob-uses.ts';
import { columns, detailPage, missing } from './detail.ts';
import { variableTable } from './variables.ts';

/** So many users of a box are named; the others are counted. */
const MAX_USERS = 20;

/** The box of the path, undefined when the caller sees none. */
export function boxOf({ service, caller, params }: Ask): BoxDoc | undefined {
  const box = service.store.boxes.get(params['id'] ?? '');
  return box !== undefined && canSeeBox(service, caller, box) ? box : undefined;
}

export function boxDetail(ask: Ask, notice = '', status?: number): Shown {
  const box = boxOf(ask);
  if (box === undefined) return missing('boxes', 'Boxes', 'box', ask.params['id'] ?? '');
  const policy = isPolicy(box);
  return detailPage({
    section: policy ? 'policy-boxes' : 'boxes',
    list: policy ? 'Policy boxes' : 'Boxes',
    name: box.name,
    id: box.id,
    marks: html`${tag(box.kind)}
    ${box.version !== undefined && tag(`version ${versionText(box.version.number)}`)}`,
    actions: actionsOf(ask, box),
    notice: alert(notice),
    content: columns(
      html`${box.description !== '' && html`<p class="lead">${box.description}</p>`}
      ${policy ? profilePart(ask, box) : eventsPart(ask, box)}
      ${part('variables', 'Variables', variableTable(ask, box.variables))} ${nestedPart(ask, box)}
      ${usersPart(ask, box)}`,
      html`${part('facts', 'Facts', factsOf(ask, box))} ${!policy && versionsPart(ask, box)}`,
    ),
    ...(status === undefined ? {} : { status }),
  });
}

function actionsOf({ caller }: Ask, box: BoxDoc): Html {
  const remove: Action = {
    name: 'delete',
    label: 'Delete',
    to: `${pathOf('boxes', box.id)}/delete`,
    title: `Delete ${box.name}?`,
    what: 'The box and its versions are removed. Instances that were made of it keep their own copy and run on.',
    danger: true,
    refused: canChange(caller, box) ? undefined : 'You may read this box, not change it',
  };
  return html`${
    !isPolicy(box) && html`<a class="button primary" href="${pathOf('boxes', box.id)}/deploy">Deploy…</a>`
  }
  ${actions([remove])}`;
}

function factsOf({ service, caller }: Ask, box: BoxDoc): Html {
  const base = box.version === undefined ? undefined : service.store.boxes.get(box.version.box);
  const { requirements, claims, lifespan, type } = box.fields;
  const provider = service.store.providers.get(providerId(box));
  const lasts = lifespan as { operation?: string; interval?: string; quantity?: number } | null | undefined;
  return facts([
    ['Owner', link(pathOf('workspaces', box.owner), box.owner)],
    ['Visible to', box.visibility],
    ['Shared with', box.members.map(({ workspace, role }) => `${workspace} (${role})`).join(', ')],
    ['Organization', box.organization],
    ['Version of', base === undefined ? undefined : link(boxPath(base), base.name)],
    ['Says', box.version?.description],
    ['Type', typeof type === 'string' ? type : undefined],
    ['Requires', words(requirements)],
    ['Claims', words(claims)],
    [
      'Provider',
      provider === undefined
        ? undefined
        : canSeeProvider(service, caller, provider)
          ? link(pathOf('providers', provider.id), provider.name)
          : mono(provider.id),
    ],
    [
      'Lease of instances',
      lasts?.operation === undefined || lasts.operation === 'none'
        ? undefined
        : `${lasts.operation} after ${lasts.quantity ?? 1} ${lasts.interval ?? 'hours'}`,
    ],
    ['Updates', box.automatic_updates],
    ['Created', time(box.created)],
    ['Updated', time(box.updated)],
  ]);
}

const words = (value: unknown): Part =>
  Array.isArray(value) ? value.map((word) => [tag(String(word)), ' ']) : undefined;

/** The scripts of a script box, the Dockerfile of a docker box. */
function eventsPart({ service }: Ask, box: BoxDoc): Html {
  const events = Object.entries(
    (box.fields['events'] ?? {}) as Record<string, { url: string; destination_path?: string }>,
  );
  const dockerfile = box.fields['dockerfile'] as { url?: string } | null | undefined;
  const files: [string, { url: string; destination_path?: string }][] =
    dockerfile?.url === undefined ? events : [...events, ['Dockerfile', { url: dockerfile.url }]];
  if (files.length === 0) return part('events', 'Events', nothing('No event has a script.'));
  const shown = files.map(([name, file]) => {
    const blob = blobByUrl(service, file.url);
    const content = blob === undefined ? undefined : service.store.content.get(blob.id);
    const text = content === undefined ? undefined : textOf(content);
    return html`<details class="script" id="event-${name}" open>
      <summary>
        <b>${name}</b>
        ${(file.destination_path ?? '') !== '' && html`<span class="muted mono">→ ${file.destination_path}</span>`}
        ${blob === undefined ? tag('the file is gone') : html`<span class="muted">${sizeText(blob.length)}</span>`}
      </summary>
      ${blob !== undefined && html`<p>${link(pathOf('blobs', blob.id), blob.name)}</p>`}
      ${
        text === undefined
          ? nothing('Not a text.')
          : html`<pre class="code" tabindex="0" aria-label="${name}">${text.text}</pre>`
      }
    </details>`;
  });
  return part('events', 'Events', html`${shown}`, html`<span class="count">${files.length}</span>`);
}

function profilePart(_ask: Ask, box: BoxDoc): Html {
  const profile = (box.fields['profile'] ?? {}) as Record<string, unknown>;
  const rows = Object.entries(profile).map(([name, value]): [string, Part] => [
    name,
    html`<span class="mono value">${typeof value === 'string' ? value : JSON.stringify(value)}</span>`,
  ]);
  const readme = box.fields['readme'] as { url?: string } | null | undefined;
  return html`${part('profile', 'Profile', facts(rows))}
  ${typeof readme?.url === 'string' && part('readme', 'Readme', html`<p class="mono">${readme.url}</p>`)}`;
}

function nestedPart(ask: Ask, box: BoxDoc): Html {
  const { tree, refused } = visibleTree(ask, box);
  if (refused !== '') return part('nested', 'Boxes inside', nothing(refused));
  if (tree.children.length === 0) return html``;
  const list = (nodes: readonly Node[]): Html =>
    html`<ul>
      ${nodes.map(
        (node) =>
          html`<li>
            <span class="mono">${node.path.split('.').at(-1) ?? ''}</span>
            ${link(boxPath(node.box), node.box.name)} ${node.children.length > 0 && list(node.children)}
          </li>`,
      )}
    </ul>`;
  return part('nested', 'Boxes inside', html`<div class="tree">${list(tree.children)}</div>`);
}

function versionsPart({ service }: Ask, box: BoxDoc): Html {
  const versions = versionsOf(service, box);
  const rows = versions.map((version) => [
    html`<a href="${boxPath(version)}" ${version.id === box.id && html`aria-current="page"`}
      >${version.version === undefined ? version.id : versionText(version.version.number)}</a
    >`,
    version.version?.description ?? '',
    time(version.created),
  ]);
  const content =
    rows.length === 0
      ? nothing('No versions: PUT the box with a version to make one.')
      : table(['Version', 'Says', 'Made (UTC)|wide'], rows, 'Versions');
  return part('versions', 'Versions', content);
}

/** Who uses a box: instances that are made of it, boxes that nest it or bind to it. */
function usersPart(ask: Ask, box: BoxDoc): Html {
  const base = box.version?.box ?? box.id;
  const instances = instancesOf(ask).filter((instance) => boxesIn(ask, instance).has(base));
  const newest = instances.toSorted((a, b) => (a.updated < b.updated ? 1 : -1)).slice(0, MAX_USERS);
  const ids = new Set([box.id, base]);
  const boxes = boxesOf(ask).filter((other) =>
    other.variables.some(
      ({ type, value }) =>
        (type === 'Box' || type === 'Binding') && typeof value === 'string' && ids.has(value),
    ),
  );
  const instanceRows = newest.map((instance) => [
    link(pathOf('instances', instance.id), instance.name),
    state(instance.state),
    instance.owner,
    time(instance.updated),
  ]);
  const total = instances.length;
  const content = html`${
    total === 0
      ? nothing('No instance is made of it.')
      : table(['Instance', 'State', 'Owner|mid', 'Updated (UTC)|wide'], instanceRows, 'Instances')
  }
  ${total > MAX_USERS && html`<p>${link(`/page/instances?q=${base}`, `All ${count(total, 'instance', 'instances')}`)}</p>`}
  ${
    boxes.length > 0 &&
    html`<p>
      Boxes that refer to it:
      ${boxes.slice(0, MAX_USERS).map((other) => [link(boxPath(other), other.name), ' '])}
      ${boxes.length > MAX_USERS && `and ${boxes.length - MAX_USERS} more`}
    </p>`
  }`;
  return part('users', 'Who uses it', content, html`<span class="count">${total}</span>`);
}
