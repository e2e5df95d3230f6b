import { looksAfter, placesOf, rumour, type OperatorFacts, type OperatorsFound } from '../operator-facts.ts';

/** Who looks after a resource, or why nobody does, and what a person does about that. */
export interface Keeper {
  /** `Watched`: an operator leads and looks after the namespace; `Unknown`: the person may not see. */
  state: 'Watched' | 'NotWatched' | 'NoLeader' | 'NotInstalled' | 'Unknown';
  text: string;
  nextStep: string | undefined;
  /** The operator’s own namespace, where one looks after the resource. */
  namespace: string | undefined;
}

/**
 * Judges by the Leases.
 *
 * @param wroteAt - when an operator wrote the status last, RFC 3339
 */
export function keeperOf(
  namespace: string,
  found: OperatorsFound,
  context: { systemNamespace: string; wroteAt: string | undefined },
): Keeper {
  const { systemNamespace, wroteAt } = context;
  const nobody = { namespace: undefined };
  if ('gap' in found) {
    const seen =
      wroteAt === undefined
        ? 'No operator has ever written its status.'
        : `An operator wrote its status last at ${wroteAt}.`;
    return {
      ...nobody,
      state: 'Unknown',
      text: `Not known: ${found.gap}. ${seen}`,
      nextStep:
        wroteAt === undefined
          ? `Ask an administrator whether an operator runs and looks after namespace ${namespace}.`
          : undefined,
    };
  }
  const live = found.operators.filter(({ isLive }) => isLive);
  const keeper = live.find((operator) => looksAfter(operator, namespace));
  if (keeper !== undefined)
    return {
      state: 'Watched',
      text: told(keeper),
      nextStep: undefined,
      namespace: keeper.namespace,
    };
  const heard = rumour(found.unproven, namespace);
  if (heard !== undefined) {
    const [place = ''] = placesOf(
      found.unproven.filter((each) => each.isLive && looksAfter(each, namespace)),
    );
    return {
      ...nobody,
      state: 'Unknown',
      text: `Not known: no operator in namespace ${systemNamespace} looks after namespace ${namespace}. ${heard}.`,
      nextStep: `If an administrator has installed an operator in namespace ${place}, look again with --system-namespace ${place}.`,
    };
  }
  if (live.length > 0) {
    const theirs = live
      .map((each) => `${each.namespace} looks after ${each.namespaces?.join(', ')}`)
      .join('; ');
    return {
      ...nobody,
      state: 'NotWatched',
      text: `None: namespace ${namespace} is not watched. The operator in namespace ${theirs}.`,
      nextStep: `Add ${namespace} to the chart’s value namespaces (--namespaces), or move the resource.`,
    };
  }
  const [silent] = found.operators;
  if (silent !== undefined) {
    const { holder, renewedAt } = silent;
    const last =
      holder === undefined
        ? 'the last leader gave its lease back'
        : `${holder} renewed its lease last at ${renewedAt}`;
    return {
      ...nobody,
      state: 'NoLeader',
      text: `None: no operator leads in namespace ${silent.namespace}; ${last}.`,
      nextStep: `Look at the operator’s pods: kubectl get pods -n ${silent.namespace}`,
    };
  }
  return {
    ...nobody,
    state: 'NotInstalled',
    text: 'None: no operator has ever led in this cluster, or its leader election is off.',
    nextStep: `Install the chart boxwright, or name the operator’s namespace if it is not ${systemNamespace}.`,
  };
}

function told({ holder, namespace, namespaces, version }: OperatorFacts): string {
  const which = version === undefined ? '' : `, version ${version}`;
  const where = namespaces === undefined ? 'every namespace' : `namespaces ${namespaces.join(', ')}`;
  return `${holder} in namespace ${namespace}${which}; it looks after ${where}.`;
}
