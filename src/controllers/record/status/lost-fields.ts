import { isShownOnly } from './shown-only.ts';
import { verdict, type Verdict } from './verdict.ts';

/**
 * Notes of what is about to be sent. They are not made up for later, when it was not sent: whoever sends it
 * notes it anew.
 */
const BEFORE_SENDING: ReadonlySet<string> = new Set([
  'currentOperation',
  'deleteSentAt',
  'terminateTries',
  'lease',
  'managed',
]);
/** What was lost is written again after so long, milliseconds: the definitions may have come meanwhile. */
const AGAIN_MS = 540_000;
/** What nobody has lost again for so long is taken for known, milliseconds. */
const FORGOTTEN_MS = 1_200_000;

/**
 * Notices what the API server drops of a status because the definition on the cluster is older than this
 * operator and does not know the field ("pruning", Kubernetes documents, "Custom resources", "Structural
 * schema"). A note that does not last must not be relied upon: nothing is sent that it was to precede.
 */
export class LostFields {
  readonly #kind: string;
  /** When each path was lost last, monotonic milliseconds. */
  readonly #lost = new Map<string, number>();
  /** By resource: what it could not note, by top-level field, and when it tried last. */
  readonly #pending = new Map<string, { at: number; fields: Record<string, unknown> }>();

  constructor(kind: string) {
    this.#kind = kind;
  }

  /** What a resource could not note so far and is still true, nothing having been sent since. */
  pending(uid: string): Readonly<Record<string, unknown>> {
    const { fields = {} } = this.#pending.get(uid) ?? {};
    return Object.fromEntries(Object.entries(fields).filter(([root]) => !BEFORE_SENDING.has(root)));
  }

  /** What to try again for a resource, without effect: when it is due, or when somebody asks. */
  probe(uid: string, asked: boolean, now: number): Readonly<Record<string, unknown>> | undefined {
    const pending = this.#pending.get(uid);
    if (pending === undefined || !(asked || now - pending.at >= AGAIN_MS)) return undefined;
    pending.at = now;
    return pending.fields;
  }

  /** Takes the answer to a probe: what it has is known from now on. */
  probed(uid: string, patch: Readonly<Record<string, unknown>>, answer: unknown, now: number): void {
    if (!isFields(answer)) return;
    const still = missing(patch, answer, '');
    this.#keep(patch, still);
    for (const path of still) this.#lost.set(path, now);
    const pending = this.#pending.get(uid);
    if (pending === undefined || still.length > 0) return;
    for (const root of BEFORE_SENDING) delete pending.fields[root];
  }

  /** Whether a patch says only what was lost a while ago, and would be lost again. */
  covers(patch: Readonly<Record<string, unknown>>, now: number): boolean {
    if (this.#lost.size === 0) return false;
    const fresh = [...this.#lost].filter(([, at]) => now - at < AGAIN_MS).map(([path]) => path);
    return leaves(patch).every((leaf) => fresh.some((path) => leaf === path || leaf.startsWith(`${path}.`)));
  }

  /** Compares what was written with the answer; answers the paths that were not lost before. */
  note(uid: string, patch: Readonly<Record<string, unknown>>, answer: unknown, now: number): string[] {
    if (!isFields(answer)) return [];
    const lost = missing(patch, answer, '');
    this.#keep(patch, lost);
    const fresh = lost.filter((path) => !this.#lost.has(path));
    for (const path of lost) this.#lost.set(path, now);
    const before = Object.entries(this.#pending.get(uid)?.fields ?? {}).filter(([root]) => !(root in patch));
    const roots = new Set(lost.filter(decides).map(rootOf));
    const fields = Object.fromEntries([...before, ...[...roots].map((root) => [root, patch[root]] as const)]);
    if (Object.keys(fields).length === 0) this.#pending.delete(uid);
    else this.#pending.set(uid, { at: roots.size > 0 ? now : (this.#pending.get(uid)?.at ?? now), fields });
    return fresh;
  }

  /** Why nothing may be sent for this kind; undefined while all that decides is kept. */
  hold(now: number): Verdict | undefined {
    for (const [path, at] of this.#lost) if (now - at > FORGOTTEN_MS) this.#lost.delete(path);
    const paths = [...this.#lost.keys()].filter(decides).toSorted();
    if (paths.length === 0) return undefined;
    const shown = paths.slice(0, 5).map((path) => `status.${path}`);
    return verdict(
      'NeedsUser',
      `The definition of ${this.#kind} on this cluster is older than the operator and drops ${shown.join(', ')}: ` +
        `nothing is sent until the CRDs of the operator's version are applied`,
    );
  }

  /** Forgets what a patch has set and the answer has. */
  #keep(patch: Readonly<Record<string, unknown>>, lost: readonly string[]): void {
    const set = leaves(patch);
    for (const path of this.#lost.keys()) {
      if (!lost.includes(path) && set.some((leaf) => leaf === path || leaf.startsWith(`${path}.`))) {
        this.#lost.delete(path);
      }
    }
  }
}

function decides(path: string): boolean {
  return !isShownOnly(path);
}

function rootOf(path: string): string {
  return path.split('.', 1)[0] ?? '';
}

/** Paths of `written` that `answer` lacks. Items of lists go by their place, under `[]`. */
function missing(written: unknown, answer: unknown, path: string): string[] {
  if (Array.isArray(written)) {
    if (!Array.isArray(answer) || answer.length !== written.length) return [];
    return [...new Set(written.flatMap((item, at) => missing(item, answer[at], `${path}.[]`)))];
  }
  if (!isFields(written) || !isFields(answer)) return [];
  return Object.entries(written).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    const at = path === '' ? name : `${path}.${name}`;
    return answer[name] === undefined ? [at] : missing(value, answer[name], at);
  });
}

/** Paths of everything that a patch sets or takes away. */
function leaves(patch: unknown, path = ''): string[] {
  if (Array.isArray(patch)) {
    const inner = [...new Set(patch.flatMap((item) => leaves(item, `${path}.[]`)))];
    return inner.length === 0 ? [path] : inner;
  }
  if (!isFields(patch) || Object.keys(patch).length === 0) return [path];
  return Object.entries(patch).flatMap(([name, value]) =>
    leaves(value, path === '' ? name : `${path}.${name}`),
  );
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
