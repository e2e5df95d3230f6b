import { blobByUrl } from '../../blobs/routes.ts';
import type { Variable } from '../../model.ts';
import { canSeeBox } from '../../access.ts';
import type { Ask } from '../ask.ts';
import { html, type Html, type Part } from '../html.ts';
import { link, mono, nothing, pathOf, table, tag, valueText } from '../pieces.ts';

/** A table of variables, with links to what their values name. */
export function variableTable(ask: Ask, variables: readonly Variable[], label: string): Html {
  if (variables.length === 0) return nothing('No variables.');
  return table(
    ['Name', 'Value', 'Type|mid', 'Visibility|wide', 'Updates|wide'],
    variables.map((variable) => [
      html`${variable.scope !== undefined && html`<span class="muted mono">${variable.scope}.</span>`}${mono(variable.name)}
      ${variable.required === true && tag('required')}`,
      valueOf(ask, variable),
      variable.type,
      variable.visibility ?? '',
      variable.automatic_updates ?? '',
    ]),
    label,
  );
}

function valueOf({ service, caller }: Ask, variable: Variable): Part {
  const text = valueText(variable);
  if (text === '') return html`<span class="muted">empty</span>`;
  if (variable.type === 'Box' || variable.type === 'Binding') {
    const box = service.store.boxes.get(text);
    if (box !== undefined && canSeeBox(caller, box)) return link(pathOf('boxes', box.id), box.name);
  }
  if (variable.type === 'File') {
    const blob = blobByUrl(service, text);
    if (blob !== undefined) return link(pathOf('blobs', blob.id), blob.name);
  }
  return html`<span class="mono value">${text.slice(0, 2_000)}</span>`;
}
