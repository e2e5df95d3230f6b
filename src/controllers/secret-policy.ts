/** What decides whether a Secret may be read. */
export interface SecretIdentity {
  type?: string | undefined;
  metadata: { labels?: Readonly<Record<string, string>> | undefined };
}

/** Labels that a Secret has to carry: `undefined` for any value. Empty: none. */
export type SecretSelector = ReadonlyMap<string, string | undefined>;

/** Thrown for a `--secret-selector` that says nothing, or more than this understands. */
export class SecretSelectorError extends Error {
  readonly code = 'SecretSelector';

  constructor(message: string) {
    super(message);
    this.name = 'SecretSelectorError';
  }
}

/** The type of a Secret that is made for a login of a Connection and nothing else. */
export const CREDENTIALS_TYPE = 'boxwright.dev/credentials';
/** The type of a Secret with `username` and `password`. */
export const BASIC_AUTH_TYPE = 'kubernetes.io/basic-auth';
const OPAQUE_TYPE = 'Opaque';

/** What the cluster and Helm keep for themselves: no application's secret, but a way into the cluster. */
const NEVER: ReadonlySet<string> = new Set([
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'helm.sh/release.v1',
]);
const FOR_CREDENTIALS: ReadonlySet<string> = new Set([OPAQUE_TYPE, BASIC_AUTH_TYPE, CREDENTIALS_TYPE]);

const PART = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const REQUIREMENT = new RegExp(`^((?:[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?${PART})(?:==?((?:${PART})?))?$`);

/**
 * Reads a label selector: `key` or `key=value`, several with commas, all of which have to hold. It opens Secrets, so
 * what leaves some out (`!key`, `!=`, `notin`) is not understood. Throws {@link SecretSelectorError}.
 */
export function readSecretSelector(text: string): SecretSelector {
  return new Map(
    text.split(',').map((part) => {
      const match = REQUIREMENT.exec(part.trim());
      if (match === null) {
        throw new SecretSelectorError(
          `${JSON.stringify(part.trim())} is not a label: write key=value, or key for any value, and separate several with commas`,
        );
      }
      return [match[1] ?? '', match[4]] as const;
    }),
  );
}

/** Why the operator reads nothing of this Secret, in words that follow its name; undefined where it may. */
export function secretRefusal(
  { type = OPAQUE_TYPE, metadata }: SecretIdentity,
  selector: SecretSelector,
): string | undefined {
  if (NEVER.has(type)) {
    return `has the type ${type}, which the operator never reads: put the value into a Secret of type Opaque`;
  }
  for (const [key, value] of selector) {
    const has = metadata.labels !== undefined && Object.hasOwn(metadata.labels, key);
    if (has && (value === undefined || metadata.labels?.[key] === value)) continue;
    const label = value === undefined ? key : `${key}=${value}`;
    return `does not have the label ${label}, which this operator requires (--secret-selector): add the label`;
  }
  return undefined;
}

/** Why a Secret is no login of a Connection; undefined where its type lets it be one. */
export function credentialsRefusal({ type = OPAQUE_TYPE }: Pick<SecretIdentity, 'type'>): string | undefined {
  if (FOR_CREDENTIALS.has(type)) return undefined;
  return `has the type ${type}, which is not for credentials: put the credentials into a Secret of type Opaque`;
}
