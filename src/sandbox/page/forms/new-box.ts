import type { Ask, Shown } from '../ask.ts';
import { html, type Html } from '../html.ts';
import { alert, pathOf } from '../pieces.ts';
import { providersOf } from '../visible.ts';

/** Events whose script the form asks for, in the order in which they run. */
const EVENTS = ['install', 'configure', 'start', 'stop', 'dispose'] as const;
const TYPES = ['Text', 'Port', 'Number', 'Password'] as const;
/** Rows for variables that are there at first; more come by a button. */
const ROWS = 3;
const MAX_ROWS = 100;

const isPolicyForm = ({ query, form }: Ask): boolean => (form.get('type') ?? query.get('type')) === 'policy';

/** The form that makes a box; what somebody filled in stays when the service refuses it. */
export function newBoxForm(ask: Ask, notice = '', status?: number): Shown {
  const { form, caller } = ask;
  const policy = isPolicyForm(ask);
  const title = policy ? 'New policy box' : 'New box';
  const back = policy ? '/page/policy-boxes' : '/page/boxes';
  const content = html`<nav class="crumbs" aria-label="Where you are">
      <a href="${back}">${policy ? 'Policy boxes' : 'Boxes'}</a>
    </nav>
    ${alert(notice)}
    <h1>${title}</h1>
    <p class="lead">
      ${
        policy
          ? html`Says where something is deployed. Or make a <a href="/page/boxes/new">box</a>, which says
              what.`
          : html`Says what is installed. Or make a <a href="/page/boxes/new?type=policy">policy box</a>, which
              says where.`
      }
    </p>
    <form class="form" method="post" action="/page/boxes/new">
      <input type="hidden" name="type" value="${policy ? 'policy' : 'script'}" />
      <label
        >Name <input name="name" maxlength="256" required value="${form.get('name') ?? ''}" autofocus
      /></label>
      <label
        >Description <input name="description" maxlength="2000" value="${form.get('description') ?? ''}"
      /></label>
      <label>Owner ${choice('owner', [...caller.writes], form.get('owner') ?? caller.personal)}</label>
      <label
        >Visible to
        ${choice('visibility', ['workspace', 'organization', 'public'], form.get('visibility') ?? '')}</label
      >
      <label
        >${policy ? 'Claims' : 'Requirements'} <small>separated by commas</small
        ><input name="requirements" value="${form.get('requirements') ?? 'Linux'}"
      /></label>
      ${policy ? policyFields(ask) : scriptFields(ask)}
      <div class="actions">
        <a class="button" href="${back}">Cancel</a>
        <button class="button primary">Make it</button>
      </div>
    </form>`;
  return {
    kind: 'page',
    title,
    section: policy ? 'policy-boxes' : 'boxes',
    content,
    ...(status === undefined ? {} : { status }),
  };
}

const choice = (name: string, values: readonly string[], chosen: string): Html =>
  html`<select name="${name}">
    ${values.map((value) => html`<option ${value === chosen && html`selected`}>${value}</option>`)}
  </select>`;

function policyFields(ask: Ask): Html {
  const { form, service } = ask;
  const chosen = form.get('provider') ?? '';
  return html`<fieldset>
    <legend>Where</legend>
    <label
      >Provider
      <select name="provider">
        ${providersOf(ask).map(
          ({ id, name, type }) =>
            html`<option value="${id}" ${id === chosen && html`selected`}>${name} (${type})</option>`,
        )}
      </select></label
    >
    <label
      >Schema of the profile
      <input
        name="profile-schema"
        required
        value="${form.get('profile-schema') ?? `${service.schemaBase}/test/compute/profile`}"
    /></label>
    <label>Flavor <input name="flavor" value="${form.get('flavor') ?? 'test.micro'}" /></label>
    <label
      >Machines
      <input
        name="instances"
        type="number"
        min="1"
        max="100"
        required
        value="${form.get('instances') ?? '1'}"
    /></label>
  </fieldset>`;
}

function scriptFields({ form }: Ask): Html {
  const columns = variableColumns(form);
  const rows = Math.min(MAX_ROWS, Math.max(ROWS, columns.name.length));
  return html`<fieldset>
      <legend>Variables</legend>
      <div id="variables">${Array.from({ length: rows }, (_, n) => variableRow(columns, n))}</div>
      <button type="button" class="button" data-more="variables">Another variable</button>
    </fieldset>
    <fieldset>
      <legend>Scripts</legend>
      <p class="muted">
        By default scripts are not run: lines that begin with <code>echo</code> are their output. With
        <code>--run-scripts</code> bash runs them.
      </p>
      ${EVENTS.map(
        (event) =>
          html`<label
            ><span class="mono">${event}</span>
            <textarea name="event-${event}" rows="3" spellcheck="false" class="mono">
${form.get(`event-${event}`) ?? ''}</textarea>
          </label>`,
      )}
    </fieldset>`;
}

/** The fields of all variables, read once: a form may have very many. */
function variableColumns(form: URLSearchParams): Record<'name' | 'type' | 'value' | 'required', string[]> {
  const all = (field: string): string[] => form.getAll(`variable-${field}`);
  return { name: all('name'), type: all('type'), value: all('value'), required: all('required') };
}

function variableRow(columns: ReturnType<typeof variableColumns>, n: number): Html {
  const at = (field: keyof typeof columns): string => columns[field][n] ?? '';
  return html`<div class="fields row">
    <label
      ><span class="hidden">Name</span><input name="variable-name" placeholder="NAME" value="${at('name')}"
    /></label>
    <label><span class="hidden">Type</span>${choice('variable-type', TYPES, at('type'))}</label>
    <label
      ><span class="hidden">Value</span
      ><input name="variable-value" placeholder="value" value="${at('value')}"
    /></label>
    <label
      ><span class="hidden">Needed</span>
      <select name="variable-required">
        <option value="">optional</option>
        <option value="yes" ${at('required') === 'yes' && html`selected`}>required</option>
      </select></label
    >
  </div>`;
}

/** Makes the box that the form describes, whole or not at all. */
export async function boxFromForm(ask: Ask): Promise<Shown> {
  const { service, form } = ask;
  const policy = isPolicyForm(ask);
  const words = (form.get('requirements') ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);
  const common = {
    schema: `${service.schemaBase}/boxes/${policy ? 'policy' : 'script'}`,
    name: form.get('name') ?? '',
    description: form.get('description') ?? '',
    owner: form.get('owner') ?? '',
    visibility: form.get('visibility') ?? 'workspace',
  };
  const own = policy
    ? { claims: words, provider_id: form.get('provider') ?? '', profile: profileFrom(form) }
    : { requirements: words };
  const made = await ask.call('POST', '/services/boxes', { ...common, ...own });
  if (!made.ok) return newBoxForm(ask, made.message, made.status);
  const box = made.body as { id: string; uri: string };
  const filled = policy ? made : await fill(ask, box);
  if (!filled.ok) {
    // Half a box would be in the way of the next try: its name is taken.
    await ask.call('DELETE', `/services/boxes/${box.id}`);
    return newBoxForm(ask, filled.message, filled.status);
  }
  return { kind: 'goto', to: pathOf(policy ? 'policy-boxes' : 'boxes', box.id) };
}

function profileFrom(form: URLSearchParams): object {
  const flavor = form.get('flavor') ?? '';
  return {
    schema: form.get('profile-schema') ?? '',
    instances: Number(form.get('instances') ?? 1),
    ...(flavor === '' ? {} : { flavor }),
  };
}

/** Variables and events start empty (interface document section 4.1): a second call brings them. */
async function fill(ask: Ask, box: { id: string }): ReturnType<Ask['call']> {
  const { form } = ask;
  const columns = variableColumns(form);
  const variables = columns.name.flatMap((name, n) =>
    name.trim() === ''
      ? []
      : [
          {
            name: name.trim(),
            type: columns.type[n] ?? 'Text',
            value: columns.value[n] ?? '',
            required: columns.required[n] === 'yes',
            visibility: 'public',
          },
        ],
  );
  const events: Record<string, unknown> = {};
  for (const event of EVENTS) {
    // Forms send line ends of their own, which bash does not take.
    const text = (form.get(`event-${event}`) ?? '').replaceAll('\r\n', '\n');
    if (text.trim() === '') continue;
    const content = Buffer.from(text.endsWith('\n') ? text : `${text}\n`);
    const blob = await ask.call('POST', `/services/blobs/upload/${event}.sh`, content);
    if (!blob.ok) return blob;
    events[event] = blob.body;
  }
  return ask.call('PUT', `/services/boxes/${box.id}`, { variables, events });
}
