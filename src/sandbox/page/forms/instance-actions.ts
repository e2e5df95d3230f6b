import { canChange } from '../../access.ts';
import type { InstanceDoc } from '../../model.ts';
import { formatTime } from '../../time.ts';
import type { Answer, Ask } from '../ask.ts';
import { html, type Html } from '../html.ts';
import { pathOf } from '../pieces.ts';
import type { Action } from './action.ts';

/** One operation of an instance as the page offers it. */
interface Operation {
  name: string;
  label: string;
  title: (name: string) => string;
  what: string;
  danger?: true;
  allowed: (ask: Ask, instance: InstanceDoc) => boolean;
  /** The call that carries it out. */
  send: (ask: Ask, uri: string) => Promise<Answer>;
}

const put =
  (operation: string): Operation['send'] =>
  (ask, uri) =>
    ask.call('PUT', `${uri}/${operation}`);

const remove =
  (operation: string): Operation['send'] =>
  (ask, uri) =>
    ask.call('DELETE', `${uri}?operation=${operation}`);

type Named =
  'poweron' | 'shutdown' | 'reinstall' | 'reconfigure' | 'deploy' | 'force_terminate' | 'delete' | 'put';

const byTable =
  (name: Named): Operation['allowed'] =>
  ({ service }, { state, operation }) =>
    service.rules.accepts[name](state, operation.event);

const OPERATIONS: readonly Operation[] = [
  {
    name: 'poweron',
    label: 'Power on',
    title: (name) => `Power on ${name}?`,
    what: 'Its machines start again: the configure and start scripts run.',
    allowed: byTable('poweron'),
    send: put('poweron'),
  },
  {
    name: 'shutdown',
    label: 'Shut down',
    title: (name) => `Shut down ${name}?`,
    what: 'The stop scripts run, then its machines are switched off. They can be powered on again.',
    allowed: byTable('shutdown'),
    send: put('shutdown'),
  },
  {
    name: 'reinstall',
    label: 'Reinstall',
    title: (name) => `Reinstall ${name}?`,
    what: 'The install and configure scripts run again, with the newest draft of its box.',
    allowed: byTable('reinstall'),
    send: put('reinstall'),
  },
  {
    name: 'reconfigure',
    label: 'Reconfigure',
    title: (name) => `Reconfigure ${name}?`,
    what: 'The configure scripts run again, with the variables as they are now.',
    allowed: byTable('reconfigure'),
    send: (ask, uri) => ask.call('PUT', `${uri}/reconfigure`, { method: 'reconfigure' }),
  },
  {
    name: 'deploy',
    label: 'Deploy again',
    title: (name) => `Deploy ${name} again?`,
    what: 'The deploy that failed starts from the beginning, with the newest draft of its box.',
    allowed: byTable('deploy'),
    send: put('deploy'),
  },
  {
    name: 'terminate',
    label: 'Terminate',
    title: (name) => `Terminate ${name}?`,
    what: 'The dispose scripts run, then its machines are gone. This cannot be taken back.',
    danger: true,
    allowed: ({ service }, { state, operation }) => service.rules.acceptsTerminate(state, operation.event),
    send: remove('terminate'),
  },
  {
    name: 'force_terminate',
    label: 'Force-terminate',
    title: (name) => `Terminate ${name} by force?`,
    what: 'Its machines are gone at once, without any script. This cannot be taken back.',
    danger: true,
    allowed: byTable('force_terminate'),
    send: remove('force_terminate'),
  },
  {
    name: 'delete',
    label: 'Delete',
    title: (name) => `Delete the record of ${name}?`,
    what: 'The instance and its logs are removed from the service.',
    danger: true,
    allowed: byTable('delete'),
    send: remove('delete'),
  },
];

/** What can be done to an instance, and why what cannot be done cannot. */
export function actionsOf(ask: Ask, instance: InstanceDoc): Action[] {
  const to = pathOf('instances', instance.id);
  const mayChange = canChange(ask.caller, instance);
  const now = `${instance.state}, ${instance.operation.event}`;
  const refusal = (allowed: boolean): string | undefined => {
    if (!mayChange) return 'You may read this instance, not change it';
    return allowed ? undefined : `Not possible while it is (${now})`;
  };
  const operations = OPERATIONS.map(({ name, label, title, what, danger, allowed }): Action => ({
    name,
    label,
    to: `${to}/do/${name}`,
    title: title(instance.name),
    what,
    danger: danger === true,
    refused: refusal(allowed(ask, instance)),
  }));
  return [
    ...operations.filter(({ danger }) => danger !== true),
    {
      name: 'lease',
      label: 'Renew lease',
      to: `${to}/do/lease`,
      title: `Renew the lease of ${instance.name}`,
      what: 'What happens to it, and when. The time counts from now.',
      refused: refusal(byTable('put')(ask, instance)),
      fields: leaseFields(instance.lease?.operation ?? 'terminate'),
    },
    // What cannot be taken back stands apart from what is pressed every day.
    ...operations.filter(({ danger }) => danger === true),
  ];
}

const UNITS: Readonly<Record<string, number>> = { hours: 3_600_000, days: 86_400_000, weeks: 604_800_000 };

/** Fields that ask for a lease; `given` adds the choice to leave it to the policy box. */
export function leaseFields(operation: string, given?: string): Html {
  const choices: [string, string][] = [
    ...(given === undefined ? [] : [['', given] as [string, string]]),
    ['terminate', 'Terminate it'],
    ['shutdown', 'Shut it down'],
    ['alwayson', 'Nothing: always on'],
  ];
  return html`<div class="fields lease">
    <label
      >Then
      <select name="lease">
        ${choices.map(
          ([value, text]) =>
            html`<option value="${value}" ${value === operation && html`selected`}>${text}</option>`,
        )}
      </select></label
    >
    <label>in <input name="lease-number" type="number" min="1" max="10000" value="8" required /></label>
    <label
      ><span class="hidden">Unit</span>
      <select name="lease-unit">
        ${Object.keys(UNITS).map((unit) => html`<option>${unit}</option>`)}
      </select></label
    >
  </div>`;
}

/** The lease that the fields ask for; undefined where they leave it to the policy box. */
export function leaseFrom({ service, form }: Ask): { operation: string; expire?: string } | undefined {
  const operation = form.get('lease') ?? '';
  if (operation === '') return undefined;
  if (operation === 'alwayson') return { operation };
  const ms = Number(form.get('lease-number')) * (UNITS[form.get('lease-unit') ?? ''] ?? 3_600_000);
  const at = service.time.now() + (Number.isFinite(ms) ? ms : 0);
  // Beyond what a date can hold the service would have nothing to refuse.
  return { operation, expire: formatTime(Math.min(at, Date.UTC(9999, 0))) };
}

/** Carries out what a form asks for; undefined when there is no such action. */
export function carryOut(ask: Ask, name: string, id: string): Promise<Answer> | undefined {
  const uri = `/services/instances/${encodeURIComponent(id)}`;
  if (name === 'lease') return ask.call('PUT', uri, { lease: leaseFrom(ask) });
  return OPERATIONS.find((operation) => operation.name === name)?.send(ask, uri);
}
