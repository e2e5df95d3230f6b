import { CONDITIONS } from '../../../api/reasons.ts';
import { tokenOf } from '../../../api/tokens.ts';
import { printable } from '../../terminal.ts';
import { presentConditions, type WatchedResource } from '../../watch/resource.ts';
import type { Ask } from './asks.ts';

/** How a request ended; undefined while it goes on. */
export type Outcome = { ok: true; text: string } | { ok: false; text: string };

/** By this the operator says that it has looked after a switch was turned. */
const LOOKED = 'status.lastHandledRequest';

/** What has become of a request with this token, as the resource says. */
export function outcomeOf(ask: Ask, token: string, resource: WatchedResource): Outcome | undefined {
  const conditions = presentConditions(resource);
  const ready = conditions.find(({ type }) => type === CONDITIONS.ready);
  if (ready === undefined) return undefined;
  const said = `${printable(ready.reason)}${ready.message === '' ? '' : `: ${printable(ready.message)}`}`;
  const answer = ask.value === 'token' ? ask.field : LOOKED;
  if (valueAt(resource, answer) !== tokenOf(token)) return undefined;
  if (ask.untilAnswered === true) return { ok: true, text: said };
  const { refusedRequest, currentOperation, lastOperation } = (resource.status ?? {}) as {
    refusedRequest?: { operation: string; message: string };
    currentOperation?: object;
    lastOperation?: { outcome?: string };
  };
  if (refusedRequest?.operation === ask.command)
    return { ok: false, text: `refused: ${printable(refusedRequest.message)}` };
  if (conditions.some(({ type, status }) => type === CONDITIONS.stalled && status === 'True'))
    return { ok: false, text: said };
  if (ready.status !== 'True' || currentOperation !== undefined) return undefined;
  return { ok: lastOperation?.outcome !== 'Failed', text: said };
}

/** What stands at a path of fields. */
function valueAt(resource: unknown, path: string): unknown {
  let value = resource;
  for (const step of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[step];
  return value;
}
