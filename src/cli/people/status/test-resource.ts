import type { WatchedResource } from '../../watch/resource.ts';

/** A resource for tests, Ready unless `ready` says otherwise. */
export function seen(
  kind: string,
  name: string,
  spec: Readonly<Record<string, unknown>>,
  ready: { status?: string; reason?: string; message?: string } = {},
  more: Partial<NonNullable<WatchedResource['status']>> = {},
): WatchedResource {
  const { status = 'True', reason = 'Settled', message = '' } = ready;
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const condition = { type: 'Ready', status, reason, message, observedGeneration: 1, lastTransitionTime };
  return {
    kind,
    metadata: {
      name,
      namespace: 'shop',
      uid: name,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec,
    status: { observedGeneration: 1, ...more, conditions: [condition, ...(more.conditions ?? [])] },
  };
}

const main = { connectionRef: { name: 'main' } };

/** A whole shop, with an instance that is being deployed. */
export const SHOP: readonly WatchedResource[] = [
  seen('InstanceLease', 'evening', { instanceRef: { name: 'web-eu' }, operation: 'Shutdown' }),
  seen(
    'Instance',
    'web-eu',
    { ...main, boxRef: { name: 'web' }, policyBoxRef: { name: 'small' }, leaseRef: { name: 'evening' } },
    { status: 'False', reason: 'Deploying', message: 'Waits for the end of deploy' },
    {
      phase: 'Deploying',
      currentOperation: {
        event: 'deploy',
        startedAt: '2026-01-01T00:00:50Z',
        deadline: '2026-01-01T00:30:50Z',
      },
    },
  ),
  seen('PolicyBox', 'small', main),
  seen('Box', 'web', { ...main, variables: [{ name: 'inner', type: 'Box', boxRef: { name: 'base' } }] }),
  seen('Box', 'base', main),
  seen('Connection', 'main', { endpoint: 'https://deploy.example.com' }),
];
