import { canSeeBox } from '../../access.ts';
import type { Node } from '../../boxes/tree.ts';
import { effectiveVariables } from '../../instances/run/environment.ts';
import type { InstanceDoc, Override, Variable } from '../../model.ts';
import type { Ask, Shown } from '../ask.ts';
import { boxOf } from '../details/box.ts';
import { missing } from '../details/detail.ts';
import { html, type Html, type Part } from '../html.ts';
import { isPolicy } from '../lists/boxes.ts';
import { alert, link, pathOf } from '../pieces.ts';
import { boxesOf, instancesOf, visibleTree } from '../visible.ts';
import { leaseFields, leaseFrom } from './instance-actions.ts';

/** Of more instances the id of one is typed: nobody looks through such a list. */
const MAX_CHOICES = 500;

/** A variable that the form asks for, and the name of its field. */
interface Asked {
  path: string;
  variable: Variable;
  field: string;
}

/** Variables of the box and of those inside it, which a deploy may set. */
function askedOf({ tree }: Pick<ReturnType<typeof visibleTree>, 'tree'>): Asked[] {
  const asked: Asked[] = [];
  const visit = (node: Node): void => {
    for (const variable of effectiveVariables(tree, { variables: [] }, node.path)) {
      // Which boxes nest is the box's own business here.
      if (variable.type === 'Box') continue;
      asked.push({ path: node.path, variable, field: `v ${node.path} ${variable.name}` });
    }
    for (const child of node.children) visit(child);
  };
  visit(tree);
  return asked;
}

/** The form that deploys a box; what somebody filled in stays when the service refuses it. */
export function deployForm(ask: Ask, notice = '', status?: number): Shown {
  const { caller, form, query } = ask;
  const box = boxOf(ask);
  if (box === undefined) return missing('boxes', 'Boxes', 'box', ask.params['id'] ?? '');
  const inside = visibleTree(ask, box);
  const policies = boxesOf(ask)
    .filter((other) => other.version === undefined && (isPolicy(other) || other.kind === 'cloudformation'))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const content = html`<nav class="crumbs" aria-label="Where you are">
      <a href="/page/boxes">Boxes</a> ${link(pathOf('boxes', box.id), box.name)}
    </nav>
    ${alert(notice === '' ? inside.refused : notice)}
    <h1>Deploy ${box.name}</h1>
    ${
      policies.length === 0
        ? html`<div class="empty">
            <p>There is no policy box that says where to deploy it.</p>
            <p>${link('/page/boxes/new?type=policy', 'Make one')} for the Test Provider first.</p>
          </div>`
        : html`<form class="form" method="post" action="${pathOf('boxes', box.id)}/deploy">
            <label
              >Name <small>at most 30 characters</small
              ><input
                name="name"
                maxlength="30"
                required
                value="${form.get('name') ?? box.name.slice(0, 30)}"
                autofocus
            /></label>
            <label
              >Policy box
              <select name="policy">
                ${policies.map((policy) => option(policy.id, policy.name, form.get('policy') ?? query.get('policy')))}
              </select></label
            >
            <label
              >Owner
              <select name="owner">
                ${[...caller.writes].map((id) => option(id, id, form.get('owner') ?? caller.personal))}
              </select></label
            >
            ${variableFields(ask, askedOf(inside))}
            <fieldset>
              <legend>Lease</legend>
              ${leaseFields(form.get('lease') ?? '', 'What the policy box says')}
            </fieldset>
            <div class="actions">
              <a class="button" href="${pathOf('boxes', box.id)}">Cancel</a>
              <button class="button primary">Deploy</button>
            </div>
          </form>`
    }`;
  return {
    kind: 'page',
    title: `Deploy ${box.name}`,
    section: 'boxes',
    content,
    ...(status === undefined ? {} : { status }),
  };
}

const option = (value: string, text: string, chosen: string | null): Html =>
  html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`;

function variableFields(ask: Ask, asked: readonly Asked[]): Part {
  const paths = [...new Set(asked.map(({ path }) => path))];
  const instances = asked.some(({ variable }) => variable.type === 'Binding') ? instancesOf(ask) : [];
  return paths.map(
    (path) =>
      html`<fieldset>
        <legend>${path === '' ? 'Variables' : html`Variables of <span class="mono">${path}</span>`}</legend>
        ${asked.filter((each) => each.path === path).map((each) => fieldOf(ask, each, instances))}
      </fieldset>`,
  );
}

const given = (value: unknown): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);

function fieldOf(ask: Ask, { variable, field }: Asked, instances: readonly InstanceDoc[]): Html {
  const { name, type, required, value } = variable;
  const now = ask.form.get(field) ?? (type === 'Password' ? '' : given(value));
  const needed = required === true && given(value) === '';
  const mark = html`<span class="mono">${name}</span> <small>${type}${needed && ', required'}</small>`;
  const options = optionsOf(variable, instances);
  if (options !== undefined) {
    return html`<label
      >${mark}
      <select name="${field}">
        ${options.every(([id]) => id !== now) && option(now, boxName(ask, now), now)}
        ${options.map(([id, text]) => option(id, text, now))}
      </select></label
    >`;
  }
  const kind = type === 'Password' ? 'password' : 'text';
  const hint =
    type === 'Binding'
      ? 'id of an instance'
      : type === 'Password' && given(value) !== ''
        ? 'as the box has it'
        : '';
  return html`<label
    >${mark}
    <input
      name="${field}"
      type="${kind}"
      value="${now}"
      placeholder="${hint}"
      autocomplete="off"
      ${needed && html`required`}
      ${type === 'Port' && html`inputmode="numeric" pattern="[0-9]{1,5}"`}
  /></label>`;
}

/** A binding may name a box: whichever instance of it is there. */
function boxName({ service, caller }: Ask, id: string): string {
  const box = service.store.boxes.get(id);
  if (id === '') return '–';
  return box !== undefined && canSeeBox(service, caller, box) ? `an instance of ${box.name}` : id;
}

/** Values to choose from, where the type has some and there are not too many. */
function optionsOf(
  { type, ...variable }: Variable,
  instances: readonly InstanceDoc[],
): [string, string][] | undefined {
  if (type === 'Options' && typeof variable['options'] === 'string') {
    return variable['options'].split(',').map((text) => [text.trim(), text.trim()]);
  }
  if (type !== 'Binding' || instances.length > MAX_CHOICES) return undefined;
  return instances.map(({ id, name }) => [id, `${name} (${id})`]);
}

/** Deploys what the form says, and goes to the instance. */
export async function deployFromForm(ask: Ask): Promise<Shown> {
  const { service, form } = ask;
  const box = boxOf(ask);
  if (box === undefined) return missing('boxes', 'Boxes', 'box', ask.params['id'] ?? '');
  const variables = askedOf(visibleTree(ask, box)).flatMap(({ path, variable, field }): Override[] => {
    const value = form.get(field);
    // What is as the box has it goes on to follow the box.
    const same =
      value === null || value === given(variable.value) || (variable.type === 'Password' && value === '');
    if (same) return [];
    return [{ name: variable.name, type: variable.type, value, ...(path === '' ? {} : { scope: path }) }];
  });
  const lease = leaseFrom(ask);
  const answer = await ask.call('POST', '/services/instances', {
    schema: `${service.schemaBase}/deploy-instance-request`,
    name: form.get('name') ?? '',
    owner: form.get('owner') ?? '',
    box: { id: box.id, variables },
    policy_box: { id: form.get('policy') ?? '', variables: [] },
    ...(lease === undefined ? {} : { lease }),
  });
  if (!answer.ok) return deployForm(ask, answer.message, answer.status);
  const { id } = answer.body as { id: string };
  return { kind: 'goto', to: pathOf('instances', id) };
}
