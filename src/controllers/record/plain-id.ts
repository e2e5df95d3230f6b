import type { AnyRecord, Read } from '../../service/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import { conditionOf } from './kind.ts';
import type { Memory } from './memory.ts';
import { failed, heldVerdict } from './outcome.ts';
import type { ManagedResource } from './resource.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** Looks at an id that may be new on the service come so often at first, milliseconds. */
const LOOK_MS = 7_500;
/** More ids than a resource can name: those that it named before are forgotten. */
const KEPT = 250;

/** A record of the service that a resource names by its plain id. */
export interface PlainId {
  /** Where it is named, such as `spec.boxId`. */
  field: string;
  /** How messages call it, such as `box`. */
  noun: string;
  id: string;
}

/** What of a pass such an id needs. */
interface IdPass {
  resource: ManagedResource;
  memory: Memory;
  handle: Pick<ConnectionHandle, 'client' | 'poll'>;
}

/**
 * Why a record that is named by its plain id cannot be used; undefined where the service knows it. An id that single
 * reads answer 404 for over a lag window is a mistake that only a person mends. Once known, it is not read again but
 * `always`.
 */
export async function plainIdProblem<Rec extends Pick<AnyRecord, 'id'>>(
  pass: IdPass,
  named: PlainId,
  read: (id: string) => Promise<Read<Rec>>,
  always = false,
): Promise<Verdict | undefined> {
  const { attempts, plainIds } = pass.memory;
  const key = keyOf(named);
  if (!always && plainIds.get(key)?.isKnown === true) return undefined;
  const held = attempts.held('read', key);
  if (held?.verdict !== undefined) return heldVerdict(held, () => waiting(named));
  return judge(pass, named, await read(named.id));
}

function judge(pass: IdPass, named: PlainId, read: Read<unknown>): Verdict | undefined {
  const { resource, memory, handle } = pass;
  const { attempts, plainIds } = memory;
  const key = keyOf(named);
  const [oldest] = plainIds.keys();
  if (plainIds.size > KEPT && oldest !== undefined) plainIds.delete(oldest);
  if (read.kind === 'found') {
    plainIds.set(key, { isKnown: true });
    attempts.succeeded('read', key);
    return undefined;
  }
  if (read.kind === 'unknown' && read.error.status !== 403) {
    return failed(read.error, { attempts, aspect: 'read', fingerprint: key });
  }
  // A 403 proves nothing; it may be lifted as an id may come.
  if (read.kind === 'unknown') return attempts.missed('read', key, waiting(named));
  const now = handle.client.stamp();
  const window = handle.poll.lagWindowMs;
  const since = plainIds.get(key)?.missingSince ?? (saidBefore(resource) ? now - window : now);
  plainIds.set(key, { isKnown: false, missingSince: since });
  const left = since + window - now;
  if (left > 0) return { ...waiting(named), recheckAfterMs: Math.min(LOOK_MS, Math.ceil(left)) };
  const { field, noun, id } = named;
  const message = `${field}: the service knows no ${noun} ${id}: correct the id, or let the account see the ${noun}`;
  return attempts.refused('read', key, verdict('ReferenceNotFound', message));
}

function waiting({ field, noun, id }: PlainId): Verdict {
  const message = `${field}: ${noun} ${id} is not visible with the connection’s credentials`;
  return verdict('WaitingForReference', message);
}

/** A process that starts does not take back what was found out before. */
function saidBefore(resource: ManagedResource): boolean {
  const stalled = conditionOf(resource, 'Stalled');
  return (
    stalled?.reason === 'ReferenceNotFound' && stalled.observedGeneration === resource.metadata.generation
  );
}

function keyOf({ field, id }: PlainId): string {
  return `${field} ${id}`;
}
