import type { Connection } from '../../api/connection.ts';
import { KubeApiError } from '../../kube/index.ts';
import type { Sources, WholeSecret } from '../sources.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { wrongAuthorities } from './authorities.ts';
import { credentialsIn } from './credentials.ts';
import type { Access } from './kept-credentials.ts';

/** Where Secrets are not watched, credentials are looked at this often, milliseconds. */
export const SECRET_LOOK_MS = 30_000;
const CA_LIMIT = 262_144;

/** What a client is made from, and the version of the Secret with the credentials; or what is missing. */
export type AccessFound =
  { kind: 'found'; access: Access; version?: string | undefined } | { kind: 'missing'; verdict: Verdict };

/** Reads what the client is to be made from. */
export async function readAccess(
  sources: Sources,
  resource: Connection,
  signal: AbortSignal,
): Promise<AccessFound> {
  const { name } = resource.spec.credentialsRef;
  let secret: WholeSecret | undefined;
  try {
    secret = await sources.secret(resource.metadata.namespace, name, signal);
  } catch (error) {
    if (!(error instanceof KubeApiError && error.status === 403)) throw error;
    return missing(
      'WaitingForSecret',
      `The operator may not read Secret "${name}": grant it get in this namespace`,
    );
  }
  const read = credentialsIn(name, secret);
  if (read.kind === 'missing') return missing('WaitingForSecret', read.message);
  const ca = await authorities(sources, resource, signal);
  if (ca.kind === 'missing') return missing('WaitingForReference', ca.message);
  return { kind: 'found', access: { credentials: read.credentials, ca: ca.pem }, version: secret?.version };
}

async function authorities(
  sources: Sources,
  resource: Connection,
  signal: AbortSignal,
): Promise<{ kind: 'found'; pem: string | undefined } | { kind: 'missing'; message: string }> {
  const ref = resource.spec.tls?.caRef;
  if (ref === undefined) return { kind: 'found', pem: undefined };
  const content = await sources.read(resource.metadata.namespace, ref, {
    signal,
    after: sources.mark(),
  });
  if (content.kind === 'missing') return { kind: 'missing', message: `spec.tls.caRef: ${content.message}` };
  if (content.bytes.byteLength > CA_LIMIT) {
    return { kind: 'missing', message: `spec.tls.caRef: key "${ref.key}" holds more than 256 KiB` };
  }
  const pem = Buffer.from(content.bytes).toString('utf8');
  const wrong = wrongAuthorities(pem);
  if (wrong !== undefined) return { kind: 'missing', message: `spec.tls.caRef: key "${ref.key}" ${wrong}` };
  return { kind: 'found', pem };
}

function missing(reason: 'WaitingForSecret' | 'WaitingForReference', message: string): AccessFound {
  return { kind: 'missing', verdict: verdict(reason, message, SECRET_LOOK_MS) };
}
