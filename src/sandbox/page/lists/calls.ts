import { administers } from '../../access.ts';
import type { CallRecord } from '../../edge/calls.ts';
import { formatTime } from '../../time.ts';
import type { Ask, Shown } from '../ask.ts';
import { html, type Html } from '../html.ts';
import { mono, time } from '../pieces.ts';
import { listPage } from './list.ts';

/** A call with this header was made by the page for somebody who pressed a button. */
export const PAGE_HEADER = 'boxwright-page';

/** Newest first; of more, the oldest are left out. */
const MAX = 20_000;

/**
 * The calls of the caller's clients. An administrator also sees those of nobody: a client whose token is wrong is
 * found among them.
 */
function callsOf({ service, caller }: Ask): CallRecord[] {
  const organization = service.store.organizations.get(caller.organization);
  const all = organization !== undefined && administers(caller, organization);
  return service.calls
    .list()
    .filter((call) => call.caller === caller.personal || (all && call.caller === ''))
    .filter((call) => !call.headerNames.includes(PAGE_HEADER))
    .slice(-MAX);
}

/** What became of a call, in a word. */
function outcome({ status, lost }: CallRecord): string {
  if (lost !== undefined) return 'lost';
  return status === 0 ? 'waiting' : `${Math.floor(status / 100)}xx`;
}

function statusText(call: CallRecord): Html {
  const kind = outcome(call);
  if (call.lost !== undefined)
    return html`<span class="status lost">connection lost ${call.lost} the effect</span>`;
  return html`<span class="status s${kind}">${kind === 'waiting' ? 'no answer yet' : call.status}</span>`;
}

export function callList(ask: Ask): Shown {
  return listPage<CallRecord>(
    {
      section: 'calls',
      title: 'Latest calls',
      one: 'call',
      many: 'calls',
      rows: callsOf(ask),
      id: ({ seq }) => String(seq),
      sort: '-seq',
      hint: 'Path, method, status …',
      text: ({ method, path, route, status, caller }) =>
        [method, path, route, status, caller].join(' ').toLowerCase(),
      facets: [
        {
          name: 'outcome',
          title: 'Outcome',
          of: outcome,
          as: 'tabs',
          known: ['2xx', '4xx', '5xx'],
        },
        { name: 'method', title: 'Method', of: (row) => row.method, as: 'select' },
        { name: 'caller', title: 'Caller', of: (row) => row.caller || '(nobody)', as: 'select' },
      ],
      columns: [
        {
          name: 'seq',
          title: 'At (UTC)',
          sort: (row) => row.seq,
          cell: (row) => mono(time(formatTime(row.at))),
          look: 'wide',
        },
        { name: 'method', title: 'Method', sort: (row) => row.method, cell: (row) => mono(row.method) },
        {
          name: 'path',
          title: 'Path',
          sort: (row) => row.path,
          cell: (row) => html`<span class="mono path">${row.path.slice(0, 300)}</span>`,
        },
        { name: 'status', title: 'Status', sort: (row) => row.status, cell: statusText },
        {
          name: 'caller',
          title: 'Caller',
          sort: (row) => row.caller,
          cell: (row) => row.caller || '–',
          look: 'mid',
        },
        {
          name: 'bytes',
          title: 'Body',
          sort: (row) => row.bodyBytes,
          cell: (row) => (row.bodyBytes === 0 ? '' : `${row.bodyBytes.toLocaleString('en')} B`),
          look: 'num wide',
        },
        {
          name: 'faults',
          title: 'Faults',
          sort: (row) => row.faults.length,
          cell: (row) => row.faults.join(', '),
          look: 'wide',
        },
      ],
      empty: html`<p>No client has called yet.</p>
        <p>
          Point one at this address with a token of yours, in the header <code>Service-Token</code>: its calls
          show here. What this page does by itself does not.
        </p>`,
    },
    ask.query,
  );
}
