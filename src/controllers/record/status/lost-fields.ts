import { isShownOnly } from './gate.ts';
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

/** A path that was lost. */
interface Loss {
  /** When it was lost last, monotonic milliseconds. */
  at: number;
  /** uids of the resources that have lost it. */
  by: Set<string>;
  /** What was lost said something: nothing depends on an empty object or list. */
  saidSomething: boolean;
}

/**
 * Notices what the API server drops of a status because the definition on the cluster is older than this
 * operator and does not know the field ("pruning", Kubernetes documents, "Custom resources", "Structural
 * schema"). A note that does not last must not be relied upon: nothing is sent that it was to precede.
 */
export class LostFields {
  readonly #kind: string;
  readonly #isLiving: (uid: string) => boolean;
  readonly #lost = new Map<string, Loss>();
  /** By resource: what it could not note, by top-level field, and when it tried last. */
  readonly #pending = new Map<string, { at: number; fields: Record<string, unknown> }>();

  /**
   * @param isLiving - whether a resource with that uid is there: what only those have lost that are gone holds
   * nobody.
   */
  constructor(kind: string, isLiving: (uid: string) => boolean) {
    this.#kind = kind;
    this.#isLiving = isLiving;
  }

  /** Resources of which something is remembered. */
  get size(): number {
    return this.#pending.size;
  }

  /** A status with what its resource could not note so far and is still true, nothing having been sent since. */
  over<S extends object>(uid: string, status: S): S {
    const { fields = {} } = this.#pending.get(uid) ?? {};
    const pending = Object.entries(fields).filter(([root]) => !BEFORE_SENDING.has(root));
    return merged({ ...status } as Record<string, unknown>, Object.fromEntries(pending)) as S;
  }

  /**
   * What to try again for a resource, without effect: when it is due, or when somebody asks, who may ask on a
   * resource that has lost nothing itself.
   */
  probe(uid: string, asked: boolean, now: number): Readonly<Record<string, unknown>> | undefined {
    const own = this.#pending.get(uid);
    if (own === undefined || Object.keys(own.fields).length === 0) {
      const all = [...this.#pending.values()].map(({ fields }) => fields);
      const fields = asked ? all.reduce(merged, {}) : {};
      return Object.keys(fields).length === 0 ? undefined : fields;
    }
    if (!(asked || now - own.at >= AGAIN_MS)) return undefined;
    own.at = now;
    return own.fields;
  }

  /** A probe was not answered: the next look makes it again. */
  unanswered(uid: string, now: number): void {
    const pending = this.#pending.get(uid);
    if (pending !== undefined) pending.at = now - AGAIN_MS;
  }

  /** Takes the answer to a probe: what it has is known from now on. */
  probed(uid: string, patch: Readonly<Record<string, unknown>>, answer: unknown, now: number): void {
    if (!isFields(answer)) return;
    const still = this.#compare(uid, patch, answer, now);
    const pending = this.#pending.get(uid);
    if (pending === undefined || still.length > 0) return;
    for (const root of BEFORE_SENDING) delete pending.fields[root];
  }

  /** Whether a patch says only what was lost a while ago, and would be lost again. */
  covers(patch: Readonly<Record<string, unknown>>, now: number): boolean {
    if (this.#lost.size === 0) return false;
    const fresh = [...this.#lost].filter(([, { at }]) => now - at < AGAIN_MS).map(([path]) => path);
    return leaves(patch).every((leaf) => fresh.some((path) => isWithin(leaf, path)));
  }

  /** Compares what was written with the answer; answers the paths that were not lost before. */
  note(uid: string, patch: Readonly<Record<string, unknown>>, answer: unknown, now: number): string[] {
    if (!isFields(answer)) return [];
    this.#sweep();
    const before = Object.entries(this.#pending.get(uid)?.fields ?? {}).filter(([root]) => !(root in patch));
    const known = new Set(this.#lost.keys());
    const lost = this.#compare(uid, patch, answer, now);
    const roots = new Set(
      lost.filter(({ path, saidSomething }) => saidSomething && this.#decides(path)).map(rootOf),
    );
    const fields = Object.fromEntries([...before, ...[...roots].map((root) => [root, patch[root]] as const)]);
    if (Object.keys(fields).length === 0) this.#pending.delete(uid);
    else this.#pending.set(uid, { at: roots.size > 0 ? now : (this.#pending.get(uid)?.at ?? now), fields });
    return lost.map(({ path }) => path).filter((path) => !known.has(path));
  }

  /** Why nothing may be sent for this kind; undefined while all that decides is kept. */
  hold(now: number): Verdict | undefined {
    if (this.#lost.size === 0) return undefined;
    this.#sweep();
    for (const [path, { at }] of this.#lost) if (now - at > FORGOTTEN_MS) this.#lost.delete(path);
    const paths = [...this.#lost]
      .filter(([path, { saidSomething }]) => saidSomething && this.#decides(path))
      .map(([path]) => path)
      .toSorted();
    if (paths.length === 0) return undefined;
    const shown = paths.slice(0, 5).map((path) => `status.${path}`);
    return verdict(
      'NeedsUser',
      `The definition of ${this.#kind} on this cluster is older than the operator and drops ${shown.join(', ')}: ` +
        `nothing is sent until the CRDs of the operator's version are applied`,
    );
  }

  /** Notes what an answer lacks, and forgets what it has. */
  #compare(uid: string, patch: unknown, answer: unknown, now: number): Lost[] {
    const lost = missing([patch], [answer], '');
    const has = leaves(answer);
    for (const path of this.#lost.keys()) {
      if (has.some((leaf) => isWithin(leaf, path))) this.#lost.delete(path);
    }
    for (const { path, saidSomething } of lost) {
      const loss = this.#lost.get(path) ?? { at: now, by: new Set<string>(), saidSomething };
      loss.at = now;
      loss.by.add(uid);
      loss.saidSomething ||= saidSomething;
      this.#lost.set(path, loss);
    }
    return lost;
  }

  #decides(path: string): boolean {
    return !isShownOnly(this.#kind, path);
  }

  /** Forgets resources that are gone, and what nobody but them has lost. */
  #sweep(): void {
    for (const uid of this.#pending.keys()) if (!this.#isLiving(uid)) this.#pending.delete(uid);
    for (const [path, { by }] of this.#lost) {
      for (const uid of by) if (!this.#isLiving(uid)) by.delete(uid);
      if (by.size === 0) this.#lost.delete(path);
    }
  }
}

interface Lost {
  path: string;
  saidSomething: boolean;
}

function rootOf({ path }: Lost): string {
  return path.split('.', 1)[0] ?? '';
}

function isWithin(leaf: string, path: string): boolean {
  return leaf === path || leaf.startsWith(`${path}.`);
}

/**
 * Paths of `written` that `answer` lacks. A definition drops a field from every item of a list alike, so the
 * items of a list are taken together, under `[]`: their order says nothing, nor does a list of another length.
 */
function missing(written: readonly unknown[], answer: readonly unknown[], path: string): Lost[] {
  const [sent, kept] = [written.filter(isFields), answer.filter(isFields)];
  const names = new Set(sent.flatMap((fields) => Object.keys(fields)));
  return [...names].flatMap((name) => {
    const [values, found] = [valuesOf(sent, name), valuesOf(kept, name)];
    if (values.length === 0) return [];
    const at = path === '' ? name : `${path}.${name}`;
    if (found.length === 0) return [{ path: at, saidSomething: values.some(saysSomething) }];
    const [items, foundItems] = [values.filter(Array.isArray).flat(), found.filter(Array.isArray).flat()];
    return [
      ...missing(values, found, at),
      ...(items.length === foundItems.length ? missing(items, foundItems, `${at}.[]`) : []),
    ];
  });
}

function valuesOf(objects: readonly Record<string, unknown>[], name: string): unknown[] {
  return objects.map((fields) => fields[name]).filter((value) => value !== null && value !== undefined);
}

/** Whether anything stands in a value that somebody could rely upon. */
function saysSomething(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  return typeof value !== 'object' || Object.values(value).some(saysSomething);
}

/** Paths of everything that a patch sets or takes away, or that a status has. */
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

/** Both, to the depth; where both say something, the latter. */
function merged(one: Record<string, unknown>, other: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(other).map(([name, value]): [string, unknown] => {
    const before = one[name];
    return [name, isFields(before) && isFields(value) ? merged(before, value) : value];
  });
  return { ...one, ...Object.fromEntries(entries) };
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
