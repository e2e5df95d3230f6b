import type { CliIo } from '../../command.ts';
import { CommandFailedError, EXIT } from '../../exit-codes.ts';
import { paintFor, textWidth } from '../../terminal.ts';
import { typeOf } from '../../watch/type-of.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import type { Cluster } from '../cluster.ts';
import type { Named } from '../kind-name.ts';
import { findOperators, installationIn } from '../operator-facts.ts';
import { writeLines, writeObject } from '../output.ts';
import { eventsOf } from './events.ts';
import { explanationOf, type Explanation } from './facts.ts';
import { pageOf } from './page.ts';
import { keeperOf } from './who.ts';

interface Managed {
  manager?: string;
  subresource?: string;
  time?: string;
}

/** Reads all that is known of a resource, and writes a page about it. @throws CommandFailedError when it is not there */
export async function explain(
  cluster: Cluster,
  io: CliIo,
  { definition, name }: Named & { name: string },
  { output, systemNamespace }: { output: string; systemNamespace: string },
): Promise<number> {
  const { signal } = io.interrupt;
  const { namespace } = cluster;
  const type = typeOf(definition);
  const read = await cluster.kube.get<WatchedResource>(type, { namespace, name }, { signal });
  if (read === undefined) {
    throw new CommandFailedError(
      `there is no ${definition.kind}/${name} in namespace ${namespace}: see boxwright status -A`,
    );
  }
  const resource = { ...read, kind: definition.kind };
  const now = io.clock.now();
  const [found, events] = await Promise.all([
    findOperators(cluster, systemNamespace, { now, signal }),
    eventsOf(cluster, resource, signal),
  ]);
  const keeper = keeperOf(namespace, found, { systemNamespace, wroteAt: wroteAt(resource) });
  const installation =
    keeper.namespace === undefined ? undefined : await installationIn(cluster, keeper.namespace, signal);
  const explanation = explanationOf(resource, keeper, events, installation);
  if (output === 'text') {
    writeLines(
      io,
      pageOf(explanation, { width: textWidth(io.stdout, io.env), paint: paintFor(io.stdout, io.env), now }),
    );
  } else {
    writeObject(io, output, objectOf(explanation));
  }
  return EXIT.ok;
}

function objectOf({ entry, ...rest }: Explanation): object {
  const { isStalled, ...facts } = entry;
  return {
    apiVersion: 'cli.boxwright.dev/v1alpha1',
    kind: 'Explanation',
    resource: { ...facts, stalled: isStalled },
    ...rest,
  };
}

/**
 * When somebody wrote the status last: nobody but an operator does. The times stand where authors can write too, so they
 * count only beside a status.
 */
function wroteAt({ metadata, status }: WatchedResource): string | undefined {
  if ((status?.observedGeneration ?? -1) < 0) return undefined;
  const managed = Array.isArray(metadata.managedFields) ? (metadata.managedFields as Managed[]) : [];
  return managed
    .filter(({ subresource, time }) => subresource === 'status' && time !== undefined)
    .map(({ time = '' }) => time)
    .toSorted()
    .at(-1);
}
