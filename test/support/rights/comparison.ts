import type { AuditEvent } from '../../../src/devcluster/index.ts';
import { textOf, type Grant } from './grants.ts';

/** Somebody whose requests are compared with what was granted. */
export interface Identity {
  /** As the audit log names it. */
  user: string;
  /** Identities of one mode have the same grants but for names of namespaces; what one uses is used. */
  mode: string;
  grants: readonly Grant[];
  /** Where its roles and bindings are; the cluster-wide ones by name. */
  roles: { namespaces: readonly string[]; clusterWide: readonly string[] };
}

/** How the requests of one mode compare with its grants. */
export interface Tally {
  identities: number;
  requests: number;
  granted: readonly string[];
  used: readonly string[];
  /** Requests that were refused for want of a right, each kind of them once. */
  denied: readonly string[];
}

const RBAC = 'rbac.authorization.k8s.io';

/** Compares what some identities ask for, by the audit log, with what they are granted. */
export class Comparison {
  readonly #identities: ReadonlyMap<string, Identity>;
  readonly #used = new Map<string, Set<string>>();
  readonly #requests = new Map<string, number>();
  readonly #denied: { identity: Identity; at: string; text: string }[] = [];
  /** From when an identity has not all its rights any more, because somebody has taken a role or a binding away. */
  readonly #over = new Map<string, string>();

  constructor(identities: readonly Identity[]) {
    this.#identities = new Map(identities.map((identity) => [identity.user, identity]));
  }

  /** Takes in one request, in whatever order. */
  add(event: AuditEvent): void {
    if (isRemovalOfRights(event)) this.#takeAway(event);
    const identity = this.#identities.get(event.user.username);
    if (identity === undefined) return;
    const { mode } = identity;
    this.#requests.set(mode, (this.#requests.get(mode) ?? 0) + 1);
    if (isDenied(event)) {
      this.#denied.push({ identity, at: event.requestReceivedTimestamp, text: requestText(event) });
      return;
    }
    const used = this.#used.get(mode) ?? new Set<string>();
    for (const grant of needed(identity.grants, event)) used.add(textOf(grant));
    this.#used.set(mode, used);
  }

  /** By mode. */
  result(): Map<string, Tally> {
    const identities = [...this.#identities.values()];
    const modes = [...new Set(identities.map(({ mode }) => mode))].toSorted();
    return new Map(
      modes.map((mode) => {
        const members = identities.filter((identity) => identity.mode === mode);
        const denied = this.#denied.filter(
          ({ identity, at }) => identity.mode === mode && at < (this.#over.get(identity.user) ?? '~'),
        );
        const tally: Tally = {
          identities: members.length,
          requests: this.#requests.get(mode) ?? 0,
          granted: sorted(members.flatMap(({ grants }) => grants.map(textOf))),
          used: sorted(this.#used.get(mode) ?? []),
          denied: sorted(denied.map(({ text }) => text)),
        };
        return [mode, tally];
      }),
    );
  }

  #takeAway({ objectRef, requestReceivedTimestamp: at }: AuditEvent): void {
    const { namespace, name } = objectRef ?? {};
    for (const { user, roles } of this.#identities.values()) {
      const hit =
        namespace === undefined
          ? roles.clusterWide.some((role) => name === undefined || role === name)
          : roles.namespaces.includes(namespace);
      const before = this.#over.get(user);
      if (hit && (before === undefined || at < before)) this.#over.set(user, at);
    }
  }
}

/** What was granted and not used. */
export function unusedOf({ granted, used }: Tally): string[] {
  return granted.filter((grant) => !used.includes(grant));
}

/** Of the grants that permit a request those that it needs: the narrowest. */
function needed(grants: readonly Grant[], { verb, objectRef = {} }: AuditEvent): Grant[] {
  const { apiGroup = '', resource, subresource, namespace, name } = objectRef;
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  const permitting = grants.filter(
    (grant) =>
      grant.verb === verb &&
      grant.apiGroup === apiGroup &&
      grant.resource === full &&
      (grant.name === undefined || grant.name === name) &&
      (grant.namespace === undefined || grant.namespace === namespace),
  );
  const least = Math.min(...permitting.map(width));
  return permitting.filter((grant) => width(grant) === least);
}

function width({ namespace, name }: Grant): number {
  return (namespace === undefined ? 2 : 0) + (name === undefined ? 1 : 0);
}

/** Refused by RBAC: an admission plugin may say 403 too, such as for what is to be made in an ending namespace. */
function isDenied({ annotations = {} }: AuditEvent): boolean {
  return annotations['authorization.k8s.io/decision'] === 'forbid';
}

function isRemovalOfRights({ verb, objectRef, responseStatus }: AuditEvent): boolean {
  return (
    (verb === 'delete' || verb === 'deletecollection') &&
    objectRef?.apiGroup === RBAC &&
    (responseStatus?.code ?? 0) < 300
  );
}

function requestText({ verb, requestURI, user }: AuditEvent): string {
  return `${user.username}: ${verb} ${requestURI}`;
}

function sorted(texts: Iterable<string>): string[] {
  return [...new Set(texts)].toSorted();
}
