import { canonicalJson } from '../../../base/hash.ts';
import { canonicalEndpoint } from '../../../service/index.ts';
import type { Place } from './seal.ts';

/**
 * The record of a create that is under way, in the annotation `boxwright.dev/create-intent`. Written in one
 * patch with the finalizer, guarded by resourceVersion, before the create is sent.
 */
export interface CreateIntent {
  /** When it was first written, RFC 3339. `lease.after` of a new instance counts from here. */
  at: string;
  /** 1 for the first try; one more each time that an unknown outcome proved to have made nothing. */
  try: number;
  /** Ids of terminated records with our marker that are not ours to take up again. */
  skip: string[];
  /** The lease's expire that this create carries, RFC 3339, when it carries one. */
  expire?: string;
  /** Where that lease comes from, as the kind notes it. */
  lease?: Readonly<Record<string, string>>;
  /** Where it goes: the Connection may be to another place by the time that its outcome is looked up. */
  place?: Place;
}

/** At most so many skipped ids are kept: an annotation has to stay small. Further ones are passed over unnoted. */
export const MAX_SKIP = 500;

/** A create may still be under way on the service for so long after it was sent, milliseconds. */
const POST_TIMEOUT_MS = 30_000;

/**
 * From when on a look that finds nothing says that a create of unknown outcome made nothing: it may land as late as
 * its time-out, and reads may trail that by a lag window.
 *
 * @param since - when it was sent, or when this process first saw the intent; monotonic milliseconds.
 */
export function concludesFrom(since: number, lagWindowMs: number): number {
  return since + POST_TIMEOUT_MS + lagWindowMs;
}

/** Seals intents of one resource. */
export interface IntentSeal {
  /** The life of the resource that the intent is of. */
  uid: string;
  make: (body: string) => string;
  holds: (seal: string, body: string) => boolean;
}

/** The annotation's text. */
export function formatIntent(intent: CreateIntent, { uid, make }: IntentSeal): string {
  const body = { ...intent, uid };
  return JSON.stringify({ ...body, seal: make(canonicalJson(body)) });
}

/**
 * Reads the annotation. Text that is not an intent still says that *somebody* may have sent a create, so it
 * reads as one whose outcome is unknown rather than as none. So does one whose seal does not hold, of an earlier
 * version or of another resource: nothing else in it counts.
 */
export function parseIntent(
  text: string | undefined,
  now: string,
  { holds }: Pick<IntentSeal, 'holds'>,
): CreateIntent | undefined {
  if (text === undefined) return undefined;
  const fallback: CreateIntent = { at: now, try: 1, skip: [] };
  const read = readSealed(text, holds);
  if (read === undefined) return fallback;
  const { body, isSealed } = read;
  const tries = typeof body.try === 'number' && Number.isSafeInteger(body.try) && body.try > 0 ? body.try : 1;
  if (!isSealed) return { ...fallback, try: tries };
  return {
    at: typeof body.at === 'string' && !Number.isNaN(Date.parse(body.at)) ? body.at : now,
    try: tries,
    skip: Array.isArray(body.skip)
      ? body.skip.filter((id): id is string => typeof id === 'string').slice(0, MAX_SKIP)
      : [],
    ...(typeof body.expire === 'string' && !Number.isNaN(Date.parse(body.expire))
      ? { expire: body.expire }
      : {}),
    ...(isNote(body.lease) ? { lease: body.lease } : {}),
    ...readPlace(body.place),
  };
}

/** Undefined for what is no JSON object, or none that anybody can walk through: it was damaged or made up by hand. */
function readSealed(
  text: string,
  holds: IntentSeal['holds'],
): { body: Record<string, unknown>; isSealed: boolean } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== 'object') return undefined;
    const { seal, ...body } = value as Record<string, unknown>;
    return { body, isSealed: typeof seal === 'string' && holds(seal, canonicalJson(body)) };
  } catch {
    return undefined;
  }
}

function readPlace(value: unknown): { place?: Place } {
  if (!isNote(value)) return {};
  const { endpoint, owner } = value;
  return endpoint === undefined || owner === undefined
    ? {}
    : { place: { endpoint: canonicalEndpoint(endpoint), owner } };
}

/** Whether a value is a flat object of texts. */
export function isNote(value: unknown): value is Record<string, string> {
  return (
    value !== null &&
    typeof value === 'object' &&
    !Array.isArray(value) &&
    Object.values(value).every((member) => typeof member === 'string')
  );
}
