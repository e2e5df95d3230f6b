import type { KubeRequest } from '../../src/kube/index.ts';
import type { PortRequest } from '../../src/service/index.ts';

/** One request of the operator that changes something. */
export interface Effect {
  port: 'kube' | 'service';
  /** What it does, free of ids and times, so that two runs can be compared. */
  label: string;
  /** Status of the answer, also of one that did not reach the operator; undefined: it was never sent. */
  status?: number;
}

/** Whether it changed something. */
export function applied(effect: Effect): boolean {
  return effect.status !== undefined && effect.status >= 200 && effect.status < 300;
}

/** The effect that a request to the API server is; undefined for reads, events and leader election. */
export function kubeEffect(request: KubeRequest): Effect | undefined {
  if (request.method === 'GET') return undefined;
  const path = request.path.replace(/^\/api(s\/[^/]+)?\/v1[a-z0-9]*/, '').replace(/^\/namespaces\/[^/]+/, '');
  if (/^\/(events|leases)\b/.test(path)) return undefined;
  return { port: 'kube', label: `kube ${request.method} ${path.slice(1)}${contentsOf(request.body)}` };
}

/** The effect that a call to the service is; undefined for reads and logins. */
export function serviceEffect(request: PortRequest): Effect | undefined {
  if (request.method === 'GET' || request.path.startsWith('/services/security/')) return undefined;
  return { port: 'service', label: labelOf(request) };
}

/** A call to the service without the ids in it. */
export function labelOf({ method, path }: PortRequest): string {
  const plain = path
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '{id}')
    .replace(/\bi-[0-9a-z]{6}\b/g, '{id}');
  return `service ${method} ${plain}`;
}

/** What a patch touches: names of annotations, finalizers, status fields. */
function contentsOf(body: unknown): string {
  const { metadata, status } = (body ?? {}) as {
    metadata?: { annotations?: Record<string, unknown>; finalizers?: string[] };
    status?: Record<string, unknown>;
  };
  const parts = [
    ...Object.entries(metadata?.annotations ?? {}).map(
      ([name, value]) => `${value === null ? '-' : '+'}${name.replace('boxwright.dev/', '')}`,
    ),
    ...(metadata?.finalizers === undefined ? [] : [`finalizers=${metadata.finalizers.length}`]),
    ...Object.keys(status ?? {}).toSorted(),
  ];
  return parts.length === 0 ? '' : ` [${parts.join(' ')}]`;
}
