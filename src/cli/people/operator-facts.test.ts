import { describe, expect, it } from 'vitest';
import { LEADER_ANNOTATIONS } from '../../api/names.ts';
import { KubeApiError } from '../../kube/index.ts';
import type { Cluster } from './cluster.ts';
import { findOperators, type OperatorFacts, type OperatorsFound } from './operator-facts.ts';

const NOW = Date.UTC(2026, 0, 1);
const FORBIDDEN = new KubeApiError(
  { status: 403, reason: 'Forbidden', message: '', causes: [], retryAfterMs: undefined },
  { method: 'POST', path: '/apis' },
);
const SYSTEM = 'boxwright-system';

function lease(namespace: string, namespaces = '*', name = 'boxwright-operator'): object {
  return {
    metadata: { namespace, name, annotations: { [LEADER_ANNOTATIONS.namespaces]: namespaces } },
    spec: { holderIdentity: 'pod-1_x', renewTime: '2099-01-01T00:00:00Z' },
  };
}

/** A cluster with these Leases, a pod `pod-1` in every namespace, and these rights to write statuses. */
async function found(
  leases: object[],
  {
    may = () => false,
    asks = [],
  }: { may?: (user: string, namespace: string) => boolean | undefined; asks?: string[] } = {},
): Promise<OperatorsFound> {
  const kube = {
    list: (type: { plural: string }) => {
      if (type.plural === 'leases') return Promise.resolve(leases);
      return Promise.resolve([{ metadata: { name: 'pod-1' }, spec: { serviceAccountName: 'boxwright' } }]);
    },
    create: (
      _type: object,
      { spec }: { spec: { user: string; resourceAttributes: { namespace?: string } } },
    ) => {
      const { namespace = '*' } = spec.resourceAttributes;
      asks.push(`${spec.user} ${namespace}`);
      const allowed = may(spec.user, namespace);
      if (allowed === undefined) return Promise.reject(FORBIDDEN);
      return Promise.resolve({ metadata: { name: '' }, status: { allowed } });
    },
  };
  const signal = new AbortController().signal;
  return findOperators({ kube } as unknown as Cluster, SYSTEM, { now: NOW, signal });
}

function short({ namespace, namespaces }: OperatorFacts): string {
  return `${namespace}: ${namespaces?.join(',') ?? '*'}`;
}

/** Whose rights are to write statuses in their own namespace. */
function mayInTeam(user: string, namespace: string): boolean {
  return user === 'system:serviceaccount:team:boxwright' && namespace === 'team';
}

/** Who is believed about which namespaces, and who is not. */
function sides(all: OperatorsFound): object {
  if ('gap' in all) return all;
  return { operators: all.operators.map(short), unproven: all.unproven.map(short) };
}

describe('the operators of a cluster', () => {
  it('are believed in the namespace that is theirs, and nowhere else by their word', async () => {
    expect(sides(await found([lease('evil'), lease(SYSTEM, 'shop')]))).toEqual({
      operators: [`${SYSTEM}: shop`],
      unproven: ['evil: *'],
    });
  });

  it('are believed elsewhere as far as the API server lets their service account write statuses', async () => {
    expect(sides(await found([lease('team', 'shop,team')], { may: mayInTeam }))).toEqual({
      operators: ['team: team'],
      unproven: [],
    });
    expect(sides(await found([lease('team', '*')], { may: mayInTeam }))).toEqual({
      operators: [],
      unproven: ['team: *'],
    });
  });

  it('are not believed where the person may not ask, and nothing fails', async () => {
    expect(sides(await found([lease('team', 'team')], { may: () => undefined }))).toEqual({
      operators: [],
      unproven: ['team: team'],
    });
  });

  it('are asked about a bounded number of times, however many Leases an author writes', async () => {
    const asks: string[] = [];
    const many = Array.from({ length: 500 }, (_, i) => lease('evil', 'shop', `forged-${i}`));
    const others = Array.from({ length: 500 }, (_, i) => lease(`evil-${i}`, 'shop'));
    await found([...many, ...others], { asks });
    expect(asks.length).toBeLessThanOrEqual(60);
  });
});
