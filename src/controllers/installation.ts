import { createHash, randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { sha256Base32 } from '../base/hash.ts';
import { CONFIG_MAPS, KubeApiError, SECRETS, type KubeClient, type KubeObject } from '../kube/index.ts';
import { readKeys, type Keys, type KeySecret, DIGEST_SECRET, KEY_BYTES } from './keys.ts';

/** Name of the ConfigMap, in the operator's own namespace, that keeps the installation id. */
export const INSTALLATION_CONFIG_MAP = 'boxwright-installation';
/** Name of the ConfigMap that Kubernetes puts into every namespace: the certificates that its API server is known by. */
export const AUTHORITIES_CONFIG_MAP = 'kube-root-ca.crt';

/** Who this operator is to the records that it made. */
export interface Installation {
  id: string;
  /**
   * Why nothing may be written to the service and no finalizer may go until the id is confirmed by
   * `--installation-id`; undefined when it is confirmed.
   */
  unconfirmed: string | undefined;
  /** The id was given by hand where the installation's key was not: another cluster may run it, too. */
  isBorrowed: boolean;
  /** An administrator's word for this start: see `--restore`. */
  restore: boolean;
}

/** Who this installation is, and the keys that show it. */
export interface Identity {
  installation: Installation;
  keys: Keys;
}

interface InstallationMap extends KubeObject {
  data?: {
    id?: string;
    /** The uid of this very ConfigMap. */
    uid?: string;
    /** Hashes of the cluster's certificates, with spaces between. */
    authorities?: string;
    /** Id of the key that was in use last. */
    key?: string;
    /** `true`: see {@link Installation.isBorrowed}. */
    borrowed?: string;
  };
}

export interface InstallationOptions {
  kube: KubeClient;
  namespace: string;
  /** What the user gave with `--installation-id`. */
  confirmedId?: string | undefined;
  restore?: boolean | undefined;
  /** Whether status here names records: nobody but an operator writes that. */
  hasRecords: () => boolean;
  signal?: AbortSignal;
}

/** What is stored of an installation. */
interface Stored {
  map: InstallationMap | undefined;
  /** Id of the key in hand. */
  keyId: string | undefined;
  authorities: readonly string[];
}

/**
 * Finds out who this installation is: from its ConfigMap and the Secret of its key, or from the user, or, when nothing
 * here was ever held by an operator, made anew. What was copied from another cluster, or lost, has to be confirmed.
 *
 * @throws DigestKeyError, KubeApiError, KubeTransportError
 */
export async function loadIdentity(options: InstallationOptions): Promise<Identity> {
  const { kube, namespace, confirmedId, restore = false, signal } = options;
  const ref = { namespace, name: INSTALLATION_CONFIG_MAP };
  const keyRef = { namespace, name: DIGEST_SECRET };
  let doubted: string | undefined;
  for (;;) {
    const map = await kube.get<InstallationMap>(CONFIG_MAPS, ref, { signal });
    const secret = await kube.get<KeySecret>(SECRETS, keyRef, { signal });
    const keys = readKeys(secret, namespace);
    const authorities = await authoritiesOf(kube, namespace, signal);
    const keyId = keys?.digest.keyId;
    const doubt =
      confirmedId === undefined ? doubtOf({ map, keyId, authorities }, options.hasRecords) : undefined;
    if (doubt !== undefined && doubt !== doubted) {
      // Another process may have made both between the two reads.
      doubted = doubt;
      continue;
    }
    if (doubt !== undefined) {
      const installation = { id: map?.data?.id ?? '', unconfirmed: doubt, isBorrowed: true, restore: false };
      // Nothing is written with it.
      return { installation, keys: keys ?? readKeys(newKey(), namespace, true) };
    }
    const id = confirmedId ?? map?.data?.id ?? sha256Base32(randomUUID()).slice(0, 16);
    const isKnown = map?.data?.id === id && map.data.uid === map.metadata.uid;
    const isNew = confirmedId === undefined && !isKnown;
    const wasBorrowed = isKnown && map.data?.borrowed === 'true';
    const isBorrowed =
      !restore && (wasBorrowed || (keyId === undefined && !isNew && confirmedId !== undefined));
    try {
      // The ConfigMap first: without it the key would say that an installation was lost.
      const made =
        map ?? (await kube.create<InstallationMap>(CONFIG_MAPS, { metadata: ref, data: { id } }, { signal }));
      const held = keys ?? (await makeKey(kube, namespace, secret, signal));
      const { uid, resourceVersion } = made.metadata;
      const data = {
        id,
        uid,
        key: held.digest.keyId,
        ...(authorities.length === 0 ? {} : { authorities: authorities.join(' ') }),
        borrowed: isBorrowed ? 'true' : null,
      };
      if (!isSame(made.data, data))
        await kube.mergePatch(CONFIG_MAPS, ref, { data }, { resourceVersion, signal });
      return { installation: { id, unconfirmed: undefined, isBorrowed, restore }, keys: held };
    } catch (error) {
      // Another process writes it at the same time: read what it wrote.
      if (!(error instanceof KubeApiError && error.status === 409)) throw error;
    }
  }
}

/** Why it is not known that this is the installation whose ConfigMap stands here; undefined where it is. */
export function doubtOf({ map, keyId, authorities }: Stored, hasRecords: () => boolean): string | undefined {
  const confirm = 'start the operator with --installation-id to confirm';
  if (map === undefined) {
    if (keyId === undefined && !hasRecords()) return undefined;
    return `resources here have records, or the Secret ${DIGEST_SECRET} is here, but the ConfigMap ${INSTALLATION_CONFIG_MAP} is gone: ${confirm} which installation this is`;
  }
  const { uid, authorities: known, key } = map.data ?? {};
  if (uid !== undefined && uid !== map.metadata.uid) {
    return `the ConfigMap ${INSTALLATION_CONFIG_MAP} was copied from elsewhere: ${confirm} that this cluster takes over that installation's records`;
  }
  const before = known?.split(' ').filter((hash) => hash !== '') ?? [];
  if (before.length > 0 && authorities.length > 0 && !authorities.some((hash) => before.includes(hash))) {
    return `the ConfigMap ${INSTALLATION_CONFIG_MAP} comes from a cluster with other certificates, as in a snapshot that runs elsewhere: ${confirm} that this cluster takes over that installation's records`;
  }
  if (key !== undefined && keyId === undefined) {
    return `the Secret ${DIGEST_SECRET} is gone, and with it the key that claims are sealed with: bring it back from a backup, or ${confirm} that another key is made`;
  }
  return undefined;
}

async function makeKey(
  kube: KubeClient,
  namespace: string,
  secret: KeySecret | undefined,
  signal: AbortSignal | undefined,
): Promise<Keys> {
  const ref = { namespace, name: DIGEST_SECRET };
  const { data } = newKey();
  if (secret === undefined) await kube.create<KeySecret>(SECRETS, { metadata: ref, data }, { signal });
  else {
    const { resourceVersion } = secret.metadata;
    await kube.mergePatch<KeySecret>(SECRETS, ref, { data }, { resourceVersion, signal });
  }
  return readKeys({ data }, namespace, true);
}

function newKey(): Pick<Required<KeySecret>, 'data'> {
  return { data: { key: randomBytes(KEY_BYTES).toString('base64') } };
}

/** Hashes of the certificates that the cluster's API server is known by; none where they cannot be read. */
async function authoritiesOf(
  kube: KubeClient,
  namespace: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const ref = { namespace, name: AUTHORITIES_CONFIG_MAP };
  let map: (KubeObject & { data?: Record<string, string> }) | undefined;
  try {
    map = await kube.get(CONFIG_MAPS, ref, { signal });
  } catch (error) {
    // Roles of an older chart do not let this be read: then it proves nothing, as before.
    if (!(error instanceof KubeApiError && error.status === 403)) throw error;
  }
  const blocks =
    map?.data?.['ca.crt']?.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return [...new Set(blocks.flatMap((pem) => hashOf(pem)))].toSorted();
}

function hashOf(pem: string): string[] {
  try {
    return [createHash('sha256').update(new X509Certificate(pem).raw).digest('hex').slice(0, 16)];
  } catch {
    return []; // no certificate: it tells nothing
  }
}

function isSame(
  stored: InstallationMap['data'],
  wanted: Readonly<Record<string, string | null | undefined>>,
): boolean {
  const now: Readonly<Record<string, string | undefined>> = { ...stored };
  return Object.entries(wanted).every(([name, value]) => (now[name] ?? null) === (value ?? null));
}
