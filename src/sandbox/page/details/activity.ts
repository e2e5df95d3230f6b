import type { InstanceDoc, OperationDoc } from '../../model.ts';
import type { Service } from '../../service.ts';
import { html, type Html } from '../html.ts';
import { count, followButton, link, nothing, part, pathOf, state } from '../pieces.ts';

/** So many operations are shown at first, and so many lines of each. */
const STEP = 10;
const MAX_LINES = 300;

/** The operations of an instance, the newest first and open, each with its activity. */
export function operationsPart(service: Service, instance: InstanceDoc, query: URLSearchParams): Html {
  const asked = Number(query.get('operations') ?? STEP);
  const shown = Number.isInteger(asked) && asked > 0 ? asked : STEP;
  const all = service.store.operations.by('instance', instance.id);
  const newest = all.slice(-shown).toReversed();
  const more = `${pathOf('instances', instance.id)}?operations=${shown + STEP}`;
  return part(
    'operations',
    'Operations',
    html`${newest.length === 0 && nothing('None has run yet.')}
    ${newest.map((operation, n) => operationOf(operation, n === 0))}
    ${all.length > shown && html`<p>${link(more, `Show older ones (${all.length - shown})`)}</p>`}`,
    html`<span class="count">${all.length}</span>
      ${newest[0] !== undefined && html`<span class="tools">${followButton(`activity-${newest[0].id}`)}</span>`}`,
  );
}

function operationOf(operation: OperationDoc, open: boolean): Html {
  const { id, activity, username, created } = operation;
  const first = Math.max(0, activity.length - MAX_LINES);
  return html`<details class="operation" id="op-${id}" ${open && html`open`}>
    <summary>
      <b>${operation.operation}</b> ${state(operation.state)}
      <span class="muted">by ${username}, ${created.slice(0, 19)}</span>
    </summary>
    ${first > 0 && html`<p class="muted">${count(first, 'older line', 'older lines')} left out</p>`}
    <ol
      class="activity"
      id="activity-${id}"
      tabindex="0"
      aria-label="Activity of ${operation.operation}"
      data-follow
    >
      ${activity.slice(first).map(
        (line, n) =>
          html`<li id="act-${id}-${first + n}" class="level-${line.level}">
            <time class="mono" datetime="${line.created.replace(' ', 'T')}Z"
              >${line.created.slice(11, 19)}</time
            >
            <span class="level">${line.level}</span>
            <span class="text">${line.text}</span>
            ${line.exit_code !== undefined && line.exit_code !== 0 && html`<span class="tag bad">exit ${line.exit_code}</span>`}
          </li>`,
      )}
    </ol>
  </details>`;
}
