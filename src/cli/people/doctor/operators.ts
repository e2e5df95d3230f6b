import type { WatchedResource } from '../../watch/resource.ts';
import { version } from '../../version.ts';
import { looksAfter, placesOf, rumour, type OperatorFacts, type OperatorsFound } from '../operator-facts.ts';
import { checkOf, unknown, type Check, type Complaint } from './check.ts';

const LEADER = { id: 'operator', title: 'Operator' };
/** Namespaces that a sentence names. */
const NAMED = 3;
const WATCH = { id: 'namespaces', title: 'Namespaces' };

/** Whether an operator leads, one only, of the version of this program. */
export function checkOperators(found: OperatorsFound, systemNamespace: string): Check {
  const { id, title } = LEADER;
  if ('gap' in found)
    return unknown(id, title, `${found.gap}.`, 'Ask somebody who may, or give --system-namespace.');
  const live = liveOf(found);
  const silent = found.operators.filter((each) => !live.includes(each));
  const complaints: Complaint[] = [];
  if (live.length === 0)
    complaints.push({
      state: 'Wrong',
      text:
        silent.length === 0
          ? 'No operator has ever led here, or its leader election is off.'
          : `No operator leads: ${silent.map(lastSeen).join('; ')}.`,
      nextStep:
        silent.length === 0
          ? 'Install the chart boxwright.'
          : `Look at its pods: kubectl get pods -n ${silent[0]?.namespace ?? systemNamespace}`,
    });
  for (const each of live.filter((operator) => operator.version !== version))
    complaints.push({
      state: 'Doubtful',
      text: `The operator in namespace ${each.namespace} has version ${each.version ?? 'unknown'}, this program ${version}.`,
      nextStep: 'Use the program of the operator’s version.',
    });
  complaints.push(...overlaps(live), ...rumours(found.unproven));
  return checkOf(
    id,
    title,
    complaints,
    live.map(
      ({ holder, namespace, namespaces }) =>
        `${holder} leads in namespace ${namespace} and looks after ${namespaces?.join(', ') ?? 'every namespace'}.`,
    ),
  );
}

/** Whether somebody looks after every namespace that has resources. */
export function checkNamespaces(found: OperatorsFound, resources: readonly WatchedResource[]): Check {
  const { id, title } = WATCH;
  if ('gap' in found) return unknown(id, title, `${found.gap}.`);
  const live = liveOf(found);
  if (live.length === 0) return unknown(id, title, 'No operator leads.');
  const counts = new Map<string, number>();
  for (const { metadata } of resources) {
    const namespace = metadata.namespace ?? '';
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  const complaints = [...counts]
    .filter(([namespace]) => !live.some((operator) => looksAfter(operator, namespace)))
    .map(([namespace, count]): Complaint => ({
      state: 'Wrong',
      text: [
        `Nobody looks after namespace ${namespace}, which has ${count} of our resources.`,
        ...[rumour(found.unproven, namespace)].flatMap((text) => (text === undefined ? [] : [`${text}.`])),
      ].join(' '),
      nextStep: `Add ${namespace} to the chart’s value namespaces (--namespaces), or move the resources.`,
    }));
  return checkOf(
    id,
    title,
    complaints,
    `${counts.size === 1 ? 'The namespace' : `All ${counts.size} namespaces`} with resources ${counts.size === 1 ? 'is' : 'are'} looked after.`,
  );
}

/** The operators that lead. */
export function liveOf(found: OperatorsFound): OperatorFacts[] {
  return 'gap' in found ? [] : found.operators.filter(({ isLive }) => isLive);
}

function rumours(unproven: readonly OperatorFacts[]): Complaint[] {
  const places = placesOf(unproven.filter(({ isLive }) => isLive));
  const [first = ''] = places;
  if (places.length === 0) return [];
  const rest = places.length - NAMED;
  return [
    {
      state: 'Doubtful',
      text: `Leases say that operators lead in ${places.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more namespaces` : ''}: nothing that you may see bears it out, and every author who may write Leases there can say so.`,
      nextStep: `If an administrator has installed an operator in namespace ${first}, look again with --system-namespace ${first}; if not, delete that Lease.`,
    },
  ];
}

function overlaps(live: readonly OperatorFacts[]): Complaint[] {
  return live.flatMap((one, index) =>
    live.slice(index + 1).flatMap((other): Complaint[] => {
      const shared =
        one.namespaces === undefined
          ? (other.namespaces ?? ['every namespace'])
          : one.namespaces.filter((namespace) => looksAfter(other, namespace));
      if (shared.length === 0) return [];
      return [
        {
          state: 'Wrong',
          text: `Two operators look after ${shared.join(', ')}: those in namespaces ${one.namespace} and ${other.namespace}.`,
          nextStep: 'Give each operator namespaces of its own (the chart’s value namespaces).',
        },
      ];
    }),
  );
}

function lastSeen({ namespace, holder, renewedAt }: OperatorFacts): string {
  return holder === undefined
    ? `the last leader in namespace ${namespace} gave its lease back`
    : `${holder} in namespace ${namespace} renewed its lease last at ${renewedAt ?? 'an unknown time'}`;
}
