import type { CallRecord } from '../edge/calls.ts';
import type { BoxDoc, InstanceDoc } from '../model.ts';
import type { Caller, Service } from '../service.ts';
import { formatTime } from '../time.ts';
import { html, type Html } from './html.ts';

/** Rows shown of each table; the rest is counted. */
const MAX_ROWS = 500;
const MAX_CALLS = 50;

function ofCaller<T>(caller: Caller, table: { by(index: string, key: string): T[] }): T[] {
  const found = [...caller.workspaces].flatMap((id) => [...table.by('owner', id), ...table.by('member', id)]);
  return [...new Set(found)];
}

const time = (stamp: string): string => stamp.slice(0, 19);

export function instanceTable(service: Service, caller: Caller): Html {
  const all = ofCaller(caller, service.store.instances);
  const newest = all.toSorted((a, b) => (a.updated < b.updated ? 1 : -1));
  return html`<h2>Instances (${all.length})</h2>
    <table>
      <thead>
        <tr>
          <th>Name</th>
          <th>Id</th>
          <th>State</th>
          <th>Operation</th>
          <th>Owner</th>
          <th>Box</th>
          <th>Machines</th>
          <th>Lease</th>
          <th>Updated</th>
        </tr>
      </thead>
      <tbody>
        ${newest.slice(0, MAX_ROWS).map((instance) => instanceRow(service, instance))}
      </tbody>
    </table>
    ${more(all.length)}`;
}

function instanceRow(service: Service, instance: InstanceDoc): Html {
  const box = service.store.revisions.get(instance.stack[0] ?? '')?.box.name ?? instance.box;
  return html`<tr>
    <td><a href="/?instance=${instance.id}">${instance.name}</a></td>
    <td class="mono">${instance.id}</td>
    <td>${state(instance.state)}</td>
    <td>${instance.operation.event}</td>
    <td>${instance.owner}</td>
    <td>${box}</td>
    <td>${instance.service.machines.length}</td>
    <td>${leaseText(instance)}</td>
    <td class="mono">${time(instance.updated)}</td>
  </tr>`;
}

const state = (value: string): Html => html`<span class="state ${value}">${value}</span>`;

function leaseText({ lease }: InstanceDoc): string {
  if (lease === undefined) return '';
  return lease.released
    ? `${lease.operation}, released`
    : `${lease.operation} at ${time(lease.expire ?? '')}`;
}

const more = (count: number): Html =>
  count > MAX_ROWS ? html`<p class="muted">and ${count - MAX_ROWS} more</p>` : html``;

export function boxTable(service: Service, caller: Caller): Html {
  const all = ofCaller(caller, service.store.boxes).filter((box) => box.version === undefined);
  return html`<h2>Boxes (${all.length})</h2>
    <table>
      <thead>
        <tr>
          <th>Name</th>
          <th>Id</th>
          <th>Type</th>
          <th>Owner</th>
          <th>Variables</th>
          <th>Versions</th>
          <th>Instances</th>
          <th>Updated</th>
        </tr>
      </thead>
      <tbody>
        ${all.slice(0, MAX_ROWS).map((box) => boxRow(service, box))}
      </tbody>
    </table>
    ${more(all.length)}`;
}

function boxRow({ store }: Service, box: BoxDoc): Html {
  return html`<tr>
    <td>${box.name}</td>
    <td class="mono">${box.id}</td>
    <td>${box.kind}</td>
    <td>${box.owner}</td>
    <td>${box.variables.length}</td>
    <td>${store.boxes.by('base', box.id).length}</td>
    <td>${store.instances.by('box', box.id).length}</td>
    <td class="mono">${time(box.updated)}</td>
  </tr>`;
}

/** One instance with its machines and the activity of its operations, the newest first. */
export function instanceDetail(service: Service, instance: InstanceDoc): Html {
  const operations = service.store.operations.by('instance', instance.id).toReversed();
  return html`<p><a href="/">← all</a></p>
    <h2>${instance.name} <code>${instance.id}</code> ${state(instance.state)} ${instance.operation.event}</h2>
    <table>
      <thead>
        <tr>
          <th>Machine</th>
          <th>State</th>
          <th>Address</th>
          <th>Scripts of the deploy</th>
        </tr>
      </thead>
      <tbody>
        ${instance.service.machines.map(
          (machine) =>
            html`<tr>
              <td class="mono">${machine.name}</td>
              <td>${state(machine.state)}</td>
              <td class="mono">${machine.address['private'] as string}</td>
              <td>
                ${machine.workflow.map((step) => (step.box === '' ? step.event : `${step.box}.${step.event}`)).join(', ')}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    ${operations.map(
      (operation) =>
        html`<h2>${operation.operation} by ${operation.username} ${state(operation.state)}</h2>
          <table>
            <tbody>
              ${operation.activity.map(
                (line) =>
                  html`<tr>
                    <td class="mono">${line.created.slice(11, 23)}</td>
                    <td>${line.level}</td>
                    <td>${line.text}</td>
                  </tr>`,
              )}
            </tbody>
          </table>`,
    )}`;
}

export function callTable(calls: readonly CallRecord[]): Html {
  const newest = calls.slice(-MAX_CALLS).toReversed();
  return html`<h2>Latest calls</h2>
    <table>
      <thead>
        <tr>
          <th>At</th>
          <th>Caller</th>
          <th>Call</th>
          <th>Status</th>
        </tr>
      </thead>
      <tbody>
        ${newest.map(
          (call) =>
            html`<tr>
              <td class="mono">${formatTime(call.at).slice(11, 23)}</td>
              <td>${call.caller}</td>
              <td class="mono">${call.method} ${call.path.slice(0, 120)}</td>
              <td>${call.lost === undefined ? call.status : `lost ${call.lost} the effect`}</td>
            </tr>`,
        )}
      </tbody>
    </table>`;
}
