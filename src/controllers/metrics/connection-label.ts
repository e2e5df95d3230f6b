/**
 * So many Connections of a namespace have series of their own. A scrape of 5,000 took 40 MB and held the event loop for
 * 650 ms, as measured, and an author may make as many as the API server takes.
 */
const MOST = 100;

/** How metrics call the Connections of a namespace: by their names, and those that are too many together. */
export class ConnectionLabels {
  readonly #named = new Map<string, Set<string>>();
  readonly #others = new Map<string, Set<string>>();

  /** The label of a Connection, `namespace/name`: that, or `namespace/*`. */
  of(connection: string): string {
    const namespace = namespaceOf(connection);
    const named = this.#named.get(namespace) ?? new Set();
    if (named.has(connection)) return connection;
    if (named.size < MOST) {
      this.#named.set(namespace, named.add(connection));
      this.#drop(this.#others, connection);
      return connection;
    }
    this.#others.set(namespace, (this.#others.get(namespace) ?? new Set()).add(connection));
    return `${namespace}/*`;
  }

  /** A Connection is gone; answers the label of which nothing is left. */
  forget(connection: string): string | undefined {
    if (this.#drop(this.#named, connection)) return connection;
    const namespace = namespaceOf(connection);
    const isLast = this.#drop(this.#others, connection) && !this.#others.has(namespace);
    return isLast ? `${namespace}/*` : undefined;
  }

  #drop(from: Map<string, Set<string>>, connection: string): boolean {
    const namespace = namespaceOf(connection);
    const set = from.get(namespace);
    const isThere = set?.delete(connection) === true;
    if (set?.size === 0) from.delete(namespace);
    return isThere;
  }
}

function namespaceOf(connection: string): string {
  return connection.split('/', 1)[0] ?? '';
}
