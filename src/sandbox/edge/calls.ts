/** One call, as the record keeps it: no token, no header value, no body. */
export interface CallRecord {
  seq: number;
  /** Milliseconds of the clock. */
  at: number;
  method: string;
  /** Path template of the route, or "" when no route fits. */
  route: string;
  /** Path with query. */
  path: string;
  /** The user's name (personal workspace); "" for who is not logged in. */
  caller: string;
  /** Status of the answer; 0 while none was given. */
  status: number;
  /** SHA-256 of the request body in hex; "" without a body. */
  bodyHash: string;
  bodyBytes: number;
  /** Names of the headers seen, sorted. */
  headerNames: readonly string[];
  /** The connection was broken on purpose, before or after the effect. */
  lost?: 'before' | 'after';
  /** Ids of the faults that hit it. */
  faults: readonly number[];
}

const MAX = 100_000;
/** Characters kept of a path. */
const MAX_PATH = 2_000;
/** Different sets of header names that are kept once each. */
const MAX_SETS = 1_000;

/** Every call since the start or the last {@link Calls.clear}, the newest 100,000 of them. */
export class Calls {
  #records: CallRecord[] = [];
  #seq = 0;
  readonly #headerNames = new Map<string, readonly string[]>();

  add(record: Omit<CallRecord, 'seq'>): CallRecord {
    const entry = {
      ...record,
      path: record.path.slice(0, MAX_PATH),
      headerNames: this.#shared(record.headerNames),
      seq: ++this.#seq,
    };
    this.#records.push(entry);
    if (this.#records.length > MAX) this.#records = this.#records.slice(MAX / 10);
    return entry;
  }

  /** Most calls carry the same headers: their names are kept once. */
  #shared(names: readonly string[]): readonly string[] {
    const key = names.join(' ');
    const known = this.#headerNames.get(key);
    if (known !== undefined) return known;
    if (this.#headerNames.size >= MAX_SETS) this.#headerNames.clear();
    this.#headerNames.set(key, names);
    return names;
  }

  list(filter: CallFilter = {}): readonly CallRecord[] {
    return this.#records.filter(
      (record) =>
        record.seq > (filter.since ?? 0) &&
        (filter.method === undefined || record.method === filter.method) &&
        (filter.route === undefined || record.route === filter.route) &&
        (filter.caller === undefined || record.caller === filter.caller),
    );
  }

  get last(): number {
    return this.#seq;
  }

  clear(): void {
    this.#records = [];
  }
}

export interface CallFilter {
  /** Only calls with a larger `seq`. */
  since?: number;
  method?: string;
  /** Path template. */
  route?: string;
  caller?: string;
}
