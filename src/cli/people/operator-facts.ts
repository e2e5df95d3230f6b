import { LEADER_ANNOTATIONS, LEADER_LABEL } from '../../api/names.ts';
import { INSTALLATION_CONFIG_MAP } from '../../controllers/installation.ts';
import { CONFIG_MAPS, KubeApiError, LEASES, type KubeObject } from '../../kube/index.ts';
import { printable } from '../terminal.ts';
import type { Cluster } from './cluster.ts';
import { borneOut } from './borne-out.ts';

/** The operator that leads, as its Lease says. */
export interface OperatorFacts {
  /** Where its Lease is. */
  namespace: string;
  /** Name of that Lease. */
  lease: string;
  /** Undefined: it was given back. */
  holder: string | undefined;
  renewedAt: string | undefined;
  /** The Lease has not run out. */
  isLive: boolean;
  /** Namespaces that it looks after; undefined: all, or not known of an older version. */
  namespaces: readonly string[] | undefined;
  version: string | undefined;
}

interface LeaseObject extends KubeObject {
  spec?: { holderIdentity?: string; renewTime?: string; leaseDurationSeconds?: number };
}

/** A Lease that ran out a moment ago may only have a clock that differs from ours. */
const GRACE_MS = 15_000;

/** Anybody may make Leases: of so many namespaces so many are looked into. */
const NAMESPACES = 30;
const PER_NAMESPACE = 2;

/** The operators of a cluster, as far as the person may see; otherwise the sentence that says why not. */
export type OperatorsFound =
  | {
      operators: OperatorFacts[];
      /** What Leases say that nothing bears out: who may edit a namespace may write them there. */
      unproven: OperatorFacts[];
    }
  | { gap: string };

/**
 * Looks for leader Leases: in all namespaces where that is allowed, else in the one that is given. The one in the
 * operator's namespace is believed. Of another, what the rights of its holder bear out is.
 */
export async function findOperators(
  cluster: Cluster,
  systemNamespace: string,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<OperatorsFound> {
  const gap = `your user may not list Leases in namespace ${systemNamespace}, where the operator says that it runs`;
  for (const namespace of [undefined, systemNamespace]) {
    try {
      const leases = await cluster.kube.list<LeaseObject>(LEASES, {
        namespace,
        labelSelector: LEADER_LABEL,
        signal,
      });
      const told = leases.map((lease) => factsOf(lease, now));
      const operators = told.filter((each) => each.namespace === systemNamespace);
      const unproven: OperatorFacts[] = [];
      const asked = new Map<string, number>();
      for (const each of told.filter((other) => other.namespace !== systemNamespace)) {
        const before = asked.get(each.namespace) ?? 0;
        const isAsked = each.isLive && before < PER_NAMESPACE && asked.size < NAMESPACES;
        if (isAsked) asked.set(each.namespace, before + 1);
        const proven = isAsked ? await borneOut(cluster, each, signal) : undefined;
        if (proven === undefined) unproven.push(each);
        else operators.push(proven);
      }
      return { operators, unproven };
    } catch (error) {
      if (!(error instanceof KubeApiError) || error.status !== 403) throw error;
    }
  }
  return { gap };
}

/** Namespaces that a sentence names. */
const NAMED = 3;

/** What unproven Leases say about a namespace, as a sentence; undefined where none speaks of it. */
export function rumour(unproven: readonly OperatorFacts[], namespace: string): string | undefined {
  const places = placesOf(unproven.filter((each) => each.isLive && looksAfter(each, namespace)));
  if (places.length === 0) return undefined;
  const rest = places.length - NAMED;
  const where = `${places.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return `A Lease in namespace ${where} says that an operator there looks after namespace ${namespace}, but every author who may write Leases there can say so`;
}

/** Where these are, each namespace once. */
export function placesOf(operators: readonly OperatorFacts[]): string[] {
  return [...new Set(operators.map(({ namespace }) => namespace))];
}

/** Whether an operator looks after a namespace. */
export function looksAfter({ namespaces }: OperatorFacts, namespace: string): boolean {
  return namespaces?.includes(namespace) ?? true;
}

function factsOf({ metadata, spec = {} }: LeaseObject, now: number): OperatorFacts {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = spec;
  const told = metadata.annotations?.[LEADER_ANNOTATIONS.namespaces];
  const version = metadata.annotations?.[LEADER_ANNOTATIONS.version];
  const end = Date.parse(renewTime ?? '') + leaseDurationSeconds * 1_000 + GRACE_MS;
  return {
    namespace: metadata.namespace ?? '',
    lease: metadata.name,
    holder: holderIdentity === '' ? undefined : printable(holderIdentity),
    renewedAt: renewTime,
    isLive: holderIdentity !== '' && now <= end,
    namespaces: told === undefined || told === '*' ? undefined : told.split(',').map(printable),
    version: version === undefined ? undefined : printable(version),
  };
}

/** The id of the installation whose operator has this namespace; undefined where the person may not see it. */
export async function installationIn(
  { kube }: Cluster,
  namespace: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const ref = { namespace, name: INSTALLATION_CONFIG_MAP };
    const map = await kube.get<KubeObject & { data?: { id?: string } }>(CONFIG_MAPS, ref, { signal });
    return map?.data?.id;
  } catch (error) {
    if (error instanceof KubeApiError && error.status === 403) return undefined;
    throw error;
  }
}
