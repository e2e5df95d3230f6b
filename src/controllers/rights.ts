import { KINDS, type KindName } from '../api/kinds.ts';
import { GROUP } from '../api/names.ts';
import { CONFIG_MAPS, EVENTS, LEASES, SECRETS } from '../kube/index.ts';
import { KEPT_SECRET } from './connection/index.ts';
import { AUTHORITIES_CONFIG_MAP, INSTALLATION_CONFIG_MAP } from './installation.ts';
import { DIGEST_SECRET } from './keys.ts';

/** Name of the leader lease unless `--leader-lease-name` says otherwise. */
export const LEADER_LEASE = 'boxwright-operator';

/** Secrets of the operator's own namespace that no resource may read. */
export const OWN_SECRETS: readonly string[] = [DIGEST_SECRET, KEPT_SECRET];

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch';

/** One thing that the operator does at the API server: the RBAC rules are generated from these. */
export interface Right {
  apiGroup: string;
  /** Plural, with its subresource: `boxes`, `boxes/status`. */
  resource: string;
  verbs: readonly Verb[];
  /**
   * `watched`: in every namespace that the operator looks after, which is all of them or those of
   * `--namespaces`; `own`: in the operator's own namespace only; `cluster`: of a kind that is in no namespace,
   * and so only by a ClusterRole.
   */
  scope: 'watched' | 'own' | 'cluster';
  /** RBAC cannot restrict `create`, `list` and `watch` by name: those stand in a right of their own. */
  resourceNames?: readonly string[];
  /** Granted only when this switch of the installation is on. */
  when?: 'secrets.watch' | 'secrets.keepForDeletion' | 'metrics.secure';
  why: string;
}

/**
 * Kinds whose metadata the operator writes: its finalizer, and annotations that find the record again. A new
 * kind does not compile until it says so here.
 */
const METADATA_IS_WRITTEN: Readonly<Record<KindName, boolean>> = {
  Connection: true,
  Box: true,
  PolicyBox: true,
  Instance: true,
  InstanceLease: true,
};

/** Everything that the controllers and the runtime below them do at the API server. */
export const RIGHTS: readonly Right[] = [
  ...KINDS.flatMap(({ kind, plural }): Right[] => [
    {
      apiGroup: GROUP,
      resource: plural,
      verbs: METADATA_IS_WRITTEN[kind as KindName] ? ['list', 'watch', 'patch'] : ['list', 'watch'],
      scope: 'watched',
      why: METADATA_IS_WRITTEN[kind as KindName]
        ? `follows every ${kind}; sets its finalizer and annotations`
        : `follows every ${kind}`,
    },
    {
      apiGroup: GROUP,
      resource: `${plural}/status`,
      verbs: ['patch'],
      scope: 'watched',
      why: `says how each ${kind} is`,
    },
  ]),
  {
    ...resourceOf(CONFIG_MAPS),
    verbs: ['get', 'list', 'watch'],
    scope: 'watched',
    why: 'reads files and certificates that resources refer to; follows only the metadata',
  },
  {
    ...resourceOf(SECRETS),
    verbs: ['get'],
    scope: 'watched',
    why: 'reads credentials and values that resources refer to, by name',
  },
  {
    ...resourceOf(SECRETS),
    verbs: ['list', 'watch'],
    scope: 'watched',
    when: 'secrets.watch',
    why: 'follows the metadata of Secrets, so that an edited one is seen at once',
  },
  {
    ...resourceOf(EVENTS),
    verbs: ['create', 'patch'],
    scope: 'watched',
    why: 'tells what happened to a resource; events that repeat are counted on one object',
  },
  {
    ...resourceOf(SECRETS),
    verbs: ['create'],
    scope: 'own',
    why: 'makes the key of its seals and keyed hashes, once',
  },
  {
    ...resourceOf(SECRETS),
    verbs: ['get', 'patch'],
    scope: 'own',
    resourceNames: [DIGEST_SECRET],
    why: 'reads that key; fills it in where the Secret is there without one',
  },
  {
    ...resourceOf(SECRETS),
    verbs: ['get', 'patch'],
    scope: 'own',
    resourceNames: [KEPT_SECRET],
    when: 'secrets.keepForDeletion',
    why: 'keeps the credentials of what is being deleted, encrypted',
  },
  {
    ...resourceOf(CONFIG_MAPS),
    verbs: ['create'],
    scope: 'own',
    why: 'makes the ConfigMap that keeps the installation id, once',
  },
  {
    ...resourceOf(CONFIG_MAPS),
    verbs: ['get', 'patch'],
    scope: 'own',
    resourceNames: [INSTALLATION_CONFIG_MAP],
    why: 'reads the installation id; confirms it',
  },
  {
    ...resourceOf(CONFIG_MAPS),
    verbs: ['get'],
    scope: 'own',
    resourceNames: [AUTHORITIES_CONFIG_MAP],
    why: 'tells by its certificates whether this is the cluster of the installation',
  },
  { ...resourceOf(LEASES), verbs: ['create'], scope: 'own', why: 'makes the leader lease, once' },
  {
    ...resourceOf(LEASES),
    verbs: ['get', 'update'],
    scope: 'own',
    resourceNames: [LEADER_LEASE],
    why: 'takes, renews and gives back leadership',
  },
  {
    apiGroup: 'authentication.k8s.io',
    resource: 'tokenreviews',
    verbs: ['create'],
    scope: 'cluster',
    when: 'metrics.secure',
    why: 'asks whose token somebody shows who wants the metrics',
  },
  {
    apiGroup: 'authorization.k8s.io',
    resource: 'subjectaccessreviews',
    verbs: ['create'],
    scope: 'cluster',
    when: 'metrics.secure',
    why: 'asks whether he may get /metrics',
  },
];

/** What whoever reads the metrics has to be granted. */
export const METRICS_READER = { nonResourceURLs: ['/metrics'], verbs: ['get'] } as const;

function resourceOf(type: { group: string; plural: string }): { apiGroup: string; resource: string } {
  return { apiGroup: type.group, resource: type.plural };
}
