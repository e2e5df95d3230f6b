import { canSee, canSeeBox, canSeeProvider } from '../../access.ts';
import { shownBox } from '../../instances/stack.ts';
import type { BoxDoc, InstanceDoc } from '../../model.ts';
import { computedTags } from '../../organizations/tags.ts';
import type { Ask, Shown } from '../ask.ts';
import { actions } from '../forms/action.ts';
import { actionsOf } from '../forms/instance-actions.ts';
import { html, type Html, type Part } from '../html.ts';
import {
  alert,
  facts,
  leaseText,
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
import { operationsPart } from './activity.ts';
import { columns, detailPage, missing } from './detail.ts';
import { logPart } from './log.ts';
import { instanceVariables } from './variables.ts';

/** The instance of the path, undefined when the caller sees none. */
export function instanceOf({ service, caller, params }: Ask): InstanceDoc | undefined {
  const instance = service.store.instances.get(params['id'] ?? '');
  return instance !== undefined && canSee(caller, instance) ? instance : undefined;
}

export function instanceDetail(ask: Ask, notice = '', status?: number): Shown {
  const { service, query } = ask;
  const instance = instanceOf(ask);
  if (instance === undefined) return missing('instances', 'Instances', 'instance', ask.params['id'] ?? '');
  return detailPage({
    section: 'instances',
    list: 'Instances',
    name: instance.name,
    id: instance.id,
    marks: html`<span role="status"
      >${state(instance.state)} <span class="muted">${instance.operation.event}</span></span
    >`,
    notice: alert(notice),
    actions: actions(actionsOf(ask, instance)),
    content: columns(
      html`${operationsPart(service, instance, query)} ${logPart(service, instance)} ${machinesPart(instance)}
      ${part('variables', 'Variables', instanceVariables(ask, instance))}`,
      html`${part('facts', 'Facts', factsOf(ask, instance))} ${leasePart(ask, instance)}
      ${boxesPart(ask, instance)} ${bindingsPart(ask, instance)} ${tagsPart(ask, instance)}`,
    ),
    busy: instance.state === 'processing',
    ...(status === undefined ? {} : { status }),
  });
}

function machinesPart(instance: InstanceDoc): Html {
  const rows = instance.service.machines.map(({ name, state: machineState, address, workflow }) => [
    mono(name),
    state(machineState),
    mono(addressText(address)),
    workflow.map((step) => (step.box === '' ? step.event : `${step.box}.${step.event}`)).join(', '),
  ]);
  return part(
    'machines',
    'Machines',
    rows.length === 0
      ? nothing(instance.state === 'processing' ? 'None yet.' : 'None.')
      : table(['Machine', 'State', 'Address', 'Scripts of the deploy|mid'], rows, 'Machines'),
    html`<span class="count">${rows.length}</span>`,
  );
}

const addressText = (address: Readonly<Record<string, unknown>>): string =>
  Object.values(address)
    .filter((value) => typeof value === 'string' && value !== '')
    .filter((value, n, all) => all.indexOf(value) === n)
    .join(', ');

function factsOf(ask: Ask, instance: InstanceDoc): Html {
  const { service } = instance;
  return facts([
    ['Owner', link(pathOf('workspaces', instance.owner), instance.owner)],
    ['Shared with', instance.members.map(({ workspace, role }) => `${workspace} (${role})`).join(', ')],
    ['Service', html`${service.type} <code>${service.id}</code>`],
    ['Provider', providerOf(ask, instance)],
    ['Address given', instance.ipv4_address],
    ['Updates', instance.automatic_updates],
    ['Created', time(instance.created)],
    ['Updated', time(instance.updated)],
  ]);
}

function providerOf({ service, caller }: Ask, instance: InstanceDoc): Part {
  const id = shownBox(service, instance.policy)?.fields['provider_id'];
  const provider = typeof id === 'string' ? service.store.providers.get(id) : undefined;
  if (provider === undefined || !canSeeProvider(service, caller, provider)) return undefined;
  return link(pathOf('providers', provider.id), provider.name);
}

function leasePart({ service }: Ask, { lease }: InstanceDoc): Html {
  const text = leaseText(lease, service.time.now());
  return part(
    'lease',
    'Lease',
    html`<p class="big">${text}</p>
      ${lease?.expire !== undefined && html`<p class="muted">${time(lease.expire)} UTC</p>`}`,
  );
}

function boxesPart(ask: Ask, instance: InstanceDoc): Html {
  const { service } = ask;
  const boxes = instance.stack.map((id) => shownBox(service, id)).filter((box) => box !== undefined);
  const policy = shownBox(service, instance.policy);
  return part(
    'boxes',
    'Made of',
    html`<ul class="plain">
      ${boxes.map((box) => html`<li>${boxLink(ask, box, 'boxes')} ${tag(box.kind)}</li>`)}
      ${policy !== undefined && html`<li>${boxLink(ask, policy, 'policy-boxes')} ${tag('policy')}</li>`}
    </ul>`,
  );
}

/** A link while there is something behind it: instances keep a copy of boxes that are gone. */
function boxLink({ service, caller }: Ask, box: BoxDoc, section: string): Part {
  const now = service.store.boxes.get(box.id);
  if (now !== undefined && canSeeBox(service, caller, now)) return link(pathOf(section, box.id), box.name);
  return box.deleted === null ? box.name : html`${box.name} ${tag('deleted')}`;
}

function bindingsPart(ask: Ask, instance: InstanceDoc): Html {
  const { service, caller } = ask;
  const named = (id: string): Part => {
    const other = service.store.instances.get(id);
    return other !== undefined && canSee(caller, other)
      ? link(pathOf('instances', id), other.name)
      : mono(id);
  };
  const to = instance.bindings.map(({ name, instance: id }) => html`<li>${mono(name)} → ${named(id)}</li>`);
  const from = service.store.instances
    .all()
    .filter((other) => other.bindings.some((binding) => binding.instance === instance.id))
    .filter((other) => canSee(caller, other))
    .map((other) => html`<li>${named(other.id)} ${tag('binds to it')}</li>`);
  if (to.length + from.length === 0) return html``;
  return part(
    'bindings',
    'Bindings',
    html`<ul class="plain">
      ${to} ${from}
    </ul>`,
  );
}

function tagsPart({ service }: Ask, instance: InstanceDoc): Html {
  const computed = computedTags(service, instance.organization, instance);
  const own = instance.tags.map((text) => [tag(text), ' ']);
  return part(
    'tags',
    'Tags',
    own.length + computed.length === 0
      ? nothing('No tags.')
      : html`${own.length > 0 && html`<p>${own}</p>`}
        ${computed.length > 0 && facts(computed.map(({ name, value }) => [name, value]))}`,
  );
}
