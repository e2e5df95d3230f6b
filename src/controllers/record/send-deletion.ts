import { lookAgainMs } from '../../base/backoff.ts';
import type { AnyRecord, Write } from '../../service/index.ts';
import type { Pass, RecordKind } from './kind.ts';
import { isAtHome } from './home.ts';
import { noteWrite } from './observed.ts';
import type { Memory } from './memory.ts';
import { heldVerdict, notAccepted } from './outcome.ts';
import type { ManagedResource } from './resource.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** What of a kind it takes to remove a record. */
type Removing<R extends ManagedResource, Rec extends AnyRecord, M extends Memory<Rec>> = Pick<
  RecordKind<R, Rec, never, M>,
  'remove' | 'stateOf'
>;

/** What sending a step of a removal came to. */
export type Deletion = { kind: 'sent' } | { kind: 'waits'; verdict: Verdict };

/**
 * Sends one step of taking a record away, unless the ledger holds it back. `waits` is said while nothing has gone
 * wrong, `notYet` before the words of a failure.
 */
export async function sendDeletion<R extends ManagedResource, Rec extends AnyRecord, M extends Memory<Rec>>(
  kind: Removing<R, Rec, M>,
  pass: Pass<R, Rec, M>,
  { record, how, waits, notYet }: { record: Rec; how: string; waits: string; notYet: string },
): Promise<Deletion> {
  const { memory, handle } = pass;
  const { attempts } = memory;
  const { lagWindowMs, processingMs, settledMs } = handle.poll;
  const held = attempts.held('deletion', how);
  if (held !== undefined) {
    const noEffect =
      `The service has accepted ${how} ${attempts.sent('deletion', how)} times, and it has had no effect: look at ` +
      'the record on the service, or let go of it with deletionPolicy Orphan';
    const words = held.why === 'noEffect' ? noEffect : waits;
    const said = heldVerdict(held, () => verdict('Deleting', words));
    // Its effect shows soon, or never.
    const sinceMs = handle.client.stamp() - (memory.absence.lastWriteAt ?? -Infinity);
    const longest = held.verdict === undefined ? lookAgainMs(sinceMs, processingMs, settledMs) : settledMs;
    return { kind: 'waits', verdict: { ...said, recheckAfterMs: Math.min(held.retryAfterMs, longest) } };
  }
  const write = await sendDelete(kind, pass, record.id, how);
  if (write.kind === 'ok') {
    attempts.accepted('deletion', how, { quietMs: lagWindowMs });
    return { kind: 'sent' };
  }
  memory.observed = undefined;
  const said = verdict('Deleting', `${notYet}: ${write.error.message}`);
  const told = notAccepted(
    write,
    { attempts, aspect: 'deletion', fingerprint: how },
    { refused: () => said, conflict: said, at: kind.stateOf?.(record) ?? '' },
  );
  return { kind: 'waits', verdict: { ...told, reason: said.reason, message: said.message } };
}

/** Sends a DELETE and notes what it says. One that was certainly without effect is no write. */
export async function sendDelete<R extends ManagedResource, Rec extends AnyRecord, M extends Memory<Rec>>(
  kind: Pick<Removing<R, Rec, M>, 'remove'>,
  pass: Pass<R, Rec, M>,
  id: string,
  how: string,
): Promise<Write<Rec | undefined>> {
  const { memory, handle, home } = pass;
  const atHome = isAtHome(home, handle);
  const from = atHome ? (memory.absence.lastWriteAt ?? -Infinity) + handle.poll.lagWindowMs : Infinity;
  const write = await memory.deletes.sending(how, { from }, () => kind.remove(pass, id, how));
  // What is not let be deleted now is there, whatever reads have not shown.
  if (write.kind === 'refused' && write.error.status === 409) memory.absence.noteFound();
  if (write.kind !== 'refused') noteWrite(memory, write, handle.client.stamp());
  return write;
}
