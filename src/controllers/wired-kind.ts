import type { AnyResource, KindName } from '../api/kinds.ts';
import type { Lane } from '../base/priority.ts';
import type { Reconcile } from '../kube/index.ts';
import type { Caches } from './caches.ts';
import type { ResourceChange } from './changes.ts';
import type { ConnectionPool } from './connection/index.ts';
import type { OperatorContext } from './context.ts';
import type { Holdings } from './record/holdings.ts';

/** What a kind is wired with. */
export interface KindDeps {
  context: OperatorContext;
  caches: Caches;
  queues: Queues;
  /** How many records the kinds hold. */
  holdings: Holdings;
  /** The clients of all connections. */
  pool: ConnectionPool;
  /** The operator's own namespace. */
  namespace: string;
  /** Keep credentials of what is being deleted in a Secret, encrypted. */
  keepCredentials: boolean;
}

/** Puts resources into the queues of their kinds. */
export interface Queues {
  /** `key`: `namespace/name`; `byPerson`: a person has made or changed something. */
  add: (kind: KindName, key: string, lane: Lane, byPerson?: boolean) => void;
  /** All that refer to an object of a namespace. */
  addReferrers: (kind: string, namespace: string, name: string, byPerson?: boolean) => void;
}

/** A kind at work: what the operator has to know of it. */
export interface WiredKind {
  /** One pass over the resource of a key. */
  reconcile: Reconcile;
  /** Hears of each version of a resource before any pass does. */
  seen?(resource: AnyResource): void;
  /** Whether a change is one that those who refer to the resource wait for. */
  matters(change: ResourceChange): boolean;
  /** Who else hears of what those who refer to a resource hear of. */
  alsoConcerned?(resource: AnyResource): Iterable<{ kind: KindName; key: string }>;
  /** The kinds that hear of each change of a resource that refers to them, not only of its end. */
  tells?: readonly KindName[];
}
