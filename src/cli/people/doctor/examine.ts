import {
  compareKubernetesVersions,
  formatKubernetesVersion,
  OLDEST_KUBERNETES,
  parseKubernetesVersion,
} from '../../../base/kubernetes-version.ts';
import type { CliIo } from '../../command.ts';
import { EXIT } from '../../exit-codes.ts';
import { paintFor, printable, textWidth } from '../../terminal.ts';
import type { Cluster } from '../cluster.ts';
import { findOperators } from '../operator-facts.ts';
import { writeLines, writeObject } from '../output.ts';
import { podsOf } from '../pods.ts';
import { readAll } from '../read.ts';
import { checkOf, unknown, type Check } from './check.ts';
import { checkDefinitions } from './definitions.ts';
import { checkNamespaces, checkOperators, liveOf } from './operators.ts';
import { checkPods } from './pods.ts';
import { diagnosisLines, diagnosisObject } from './report.ts';
import { checkAnnotations, checkConnections, checkProgress, checkStalled } from './resources.ts';
import { checkRights } from './rights.ts';

/** Looks at an installation, from the cluster down to single resources, and says what is wrong. */
export async function examine(
  cluster: Cluster,
  io: CliIo,
  options: { allNamespaces: boolean; systemNamespace: string; output: string },
): Promise<number> {
  const { allNamespaces, systemNamespace, output } = options;
  const { signal } = io.interrupt;
  const namespace = allNamespaces ? undefined : cluster.namespace;
  const now = io.clock.now();
  const kinds = await checkDefinitions(cluster, signal);
  const [server, operators, { resources, gaps }] = await Promise.all([
    checkServer(cluster, signal),
    findOperators(cluster, systemNamespace, { now, signal }),
    readAll(cluster, namespace, signal),
  ]);
  const perOperator = await Promise.all(
    liveOf(operators).map(async (operator) => {
      const pods = await podsOf(cluster, operator.namespace, signal);
      return [checkPods(operator.namespace, pods), await checkRights(cluster, operator, pods, signal)];
    }),
  );
  const checks = [
    server,
    kinds,
    checkOperators(operators, systemNamespace),
    ...perOperator.flat(),
    checkNamespaces(operators, resources),
    checkConnections(resources),
    checkProgress(resources, now),
    checkStalled(resources),
    checkAnnotations(resources),
    ...(gaps.length === 0 ? [] : [{ ...unknown('lists', 'Lists', ''), found: gaps }]),
  ];
  if (output === 'text') {
    const where = namespace === undefined ? 'every namespace' : `namespace ${namespace} (-A looks in all)`;
    const heading = `Cluster ${printable(cluster.server)}, resources of ${where}`;
    const set = { width: textWidth(io.stdout, io.env), paint: paintFor(io.stdout, io.env) };
    writeLines(io, diagnosisLines(heading, checks, set));
  } else {
    writeObject(io, output, diagnosisObject(checks));
  }
  return checks.some(({ state }) => state === 'Wrong') ? EXIT.findings : EXIT.ok;
}

async function checkServer({ port }: Cluster, signal: AbortSignal): Promise<Check> {
  const [id, title] = ['cluster', 'Cluster'];
  const { status, body } = await port.request({ method: 'GET', path: '/version', signal });
  const told = (body as { gitVersion?: unknown } | undefined)?.gitVersion;
  const text = typeof told === 'string' ? printable(told) : '';
  const version = parseKubernetesVersion(text.split(/[-+]/, 1)[0] ?? '');
  if (status !== 200 || version === undefined)
    return unknown(id, title, `The API server does not tell its version (${status} ${text}).`);
  const oldest = formatKubernetesVersion(OLDEST_KUBERNETES);
  const complaints =
    compareKubernetesVersions(version, OLDEST_KUBERNETES) < 0
      ? [
          {
            state: 'Wrong' as const,
            text: `Kubernetes ${text} is older than ${oldest}.`,
            nextStep: `Upgrade the cluster to ${oldest} or newer: the kinds of Boxwright need it.`,
          },
        ]
      : [];
  return checkOf(id, title, complaints, `Kubernetes ${text}.`);
}
