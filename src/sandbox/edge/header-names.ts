/** Names under which clients of other installations send the two headers (service-behaviour.md 1). */
export interface HeaderNames {
  /** Beside `Service-Token`. */
  token?: readonly string[];
  /** Beside `Service-Release`. */
  release?: readonly string[];
}

const OWN = { token: 'service-token', release: 'service-release' } as const;
const KINDS = ['token', 'release'] as const;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]{1,128}$/;

type Headers = Readonly<Record<string, string>>;

/** The headers under the interface's names: what a client sends under another name is copied to it. */
export function headerReader(names: HeaderNames): (headers: Headers) => Headers {
  const others = KINDS.flatMap((kind) =>
    (names[kind] ?? []).map((name) => ({ own: OWN[kind], other: checked(kind, name) })),
  );
  if (others.length === 0) return (headers) => headers;
  return (headers) => {
    const read: Record<string, string> = { ...headers };
    for (const { own, other } of others) {
      const value = headers[other];
      // The interface's own name has the first word.
      if (value !== undefined && (read[own] ?? '') === '') read[own] = value;
    }
    return read;
  };
}

function checked(kind: string, name: string): string {
  if (HEADER_NAME.test(name)) return name.toLowerCase();
  throw new Error(`header ${kind}=${name}: "${name}" is not the name of a header`);
}
