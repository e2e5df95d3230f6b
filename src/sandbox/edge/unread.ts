/** Something that a client asked for or sent and that nothing here answers or reads. */
export interface UnreadRecord {
  kind: 'path' | 'header';
  /** Method and path with `{id}` for ids, or the name of the header. Values of headers are not kept. */
  name: string;
  count: number;
  /** The latest answer to such a request. */
  status: number;
}

/** Told once of each. */
type Told = (record: UnreadRecord) => void;

const MAX = 500;

/** Headers that mean something here, or that clients and proxies send to anybody. */
const KNOWN = new Set(
  (
    'accept accept-charset accept-encoding accept-language authorization baggage cache-control connection ' +
    'content-length content-type cookie date dnt expect forwarded from host keep-alive origin pragma priority ' +
    'referer save-data service-release service-token te traceparent tracestate trailer transfer-encoding upgrade ' +
    'upgrade-insecure-requests user-agent via x-real-ip x-request-id'
  ).split(' '),
);
const KNOWN_START = /^(?:if-|sec-|proxy-|x-forwarded-)/;
const ID = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{24}|i-[a-z0-9]{6})$/;

/** What old clients ask for in vain: it tells which flag or endpoint the next one lacks. */
export class Unread {
  readonly #records = new Map<string, UnreadRecord>();
  readonly #read: ReadonlySet<string>;
  readonly #told: Told;

  /** @param read names of headers that are read beside the interface's own */
  constructor(read: readonly string[], told: Told) {
    this.#read = new Set(read.map((name) => name.toLowerCase()));
    this.#told = told;
  }

  /** Notes a request with its answer; `found` tells whether its path leads somewhere. */
  note(request: { method: string; headers: object }, pathname: string, found: boolean, status: number): void {
    if (!found) this.#add('path', `${request.method} ${generalised(pathname)}`, status);
    for (const name of Object.keys(request.headers)) {
      if (KNOWN.has(name) || KNOWN_START.test(name) || this.#read.has(name)) continue;
      this.#add('header', name.slice(0, 200), status);
    }
  }

  list(): readonly UnreadRecord[] {
    return [...this.#records.values()];
  }

  #add(kind: UnreadRecord['kind'], name: string, status: number): void {
    const key = `${kind} ${name}`;
    const known = this.#records.get(key);
    if (known !== undefined) {
      known.count++;
      known.status = status;
    } else if (this.#records.size < MAX) {
      const record: UnreadRecord = { kind, name, count: 1, status };
      this.#records.set(key, record);
      this.#told(record);
    }
  }
}

const generalised = (pathname: string): string =>
  pathname
    .slice(0, 200)
    .split('/')
    .map((part) => (ID.test(part) ? '{id}' : part))
    .join('/');
