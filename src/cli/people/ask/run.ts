import { ANNOTATIONS } from '../../../api/names.ts';
import { Informer } from '../../../kube/index.ts';
import type { CliIo } from '../../command.ts';
import { CommandFailedError, EXIT } from '../../exit-codes.ts';
import { paintFor } from '../../terminal.ts';
import { typeOf } from '../../watch/type-of.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import type { Cluster } from '../cluster.ts';
import type { Named } from '../kind-name.ts';
import { writeLines, writeObject } from '../output.ts';
import type { Ask } from './asks.ts';
import { outcomeOf, type Outcome } from './outcome.ts';

export interface AskOptions {
  wait: boolean;
  timeout: number;
  output: string;
}

type One = Named & { name: string };

/** Asks for it on every resource that is named, and waits for the outcome where that is wanted. */
export async function askFor(
  ask: Ask,
  cluster: Cluster,
  io: CliIo,
  named: readonly One[],
  { wait, timeout, output }: AskOptions,
): Promise<number> {
  // All or none: a name that is not there must not be found out half way.
  for (const one of named) await check(ask, cluster, one, io.interrupt.signal);
  const token = new Date(io.clock.now()).toISOString();
  // A switch has no answer of its own: a look that is asked for with it tells that the operator has seen it.
  const annotations =
    ask.value === 'token'
      ? { [ask.annotation]: token }
      : { [ask.annotation]: ask.value, [ANNOTATIONS.requestedAt]: token };
  const results: (Outcome & { kind: string; name: string })[] = [];
  for (const one of named) {
    const { definition, name } = one;
    const ref = { namespace: cluster.namespace, name };
    const patch = { metadata: { annotations } };
    await cluster.kube.mergePatch(typeOf(definition), ref, patch, { signal: io.interrupt.signal });
    if (output === 'text') writeLines(io, [`${definition.kind}/${name} ${ask.done}`]);
  }
  for (const { definition, name } of named) {
    const outcome: Outcome = wait
      ? await waited(ask, token, cluster, io, { definition, name }, timeout)
      : { ok: true, text: ask.done };
    results.push({ kind: definition.kind, name, ...outcome });
    if (wait && output === 'text') {
      const paint = paintFor(io.stdout, io.env);
      writeLines(io, [
        `${definition.kind}/${name}: ${outcome.ok ? paint.green(outcome.text) : paint.red(outcome.text)}`,
      ]);
    }
  }
  if (output !== 'text') {
    const { namespace } = cluster;
    const head = { apiVersion: 'cli.boxwright.dev/v1alpha1', kind: 'Request' };
    writeObject(io, output, { ...head, command: ask.command, namespace, token, waited: wait, results });
  }
  return results.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

async function check(ask: Ask, { kube, namespace }: Cluster, one: One, signal: AbortSignal): Promise<void> {
  const { definition, name } = one;
  const found = await kube.get<WatchedResource>(typeOf(definition), { namespace, name }, { signal });
  if (found === undefined)
    throw new CommandFailedError(`there is no ${definition.kind}/${name} in namespace ${namespace}`);
  if (ask.value === null && found.spec?.['paused'] === true) {
    throw new CommandFailedError(
      `spec.paused of ${definition.kind}/${name} is true: set it to false in its manifest, an annotation does not override it`,
    );
  }
}

/** Follows one resource until the request has ended, the time is over, or it is gone. */
async function waited(
  ask: Ask,
  token: string,
  { port, namespace }: Cluster,
  { clock, random, interrupt }: CliIo,
  { definition, name }: One,
  timeout: number,
): Promise<Outcome> {
  const ended = new AbortController();
  const stop = AbortSignal.any([ended.signal, interrupt.signal]);
  const informer = new Informer<WatchedResource>({
    port,
    clock,
    random,
    type: typeOf(definition),
    namespaces: [namespace],
    fieldSelector: `metadata.name=${name}`,
  });
  let last: WatchedResource | undefined;
  const outcome = new Promise<Outcome>((resolve) => {
    informer.onChange((change) => {
      if (change.type === 'deleted') {
        resolve({ ok: false, text: 'was deleted meanwhile' });
        return;
      }
      last = change.object;
      const found = outcomeOf(ask, token, change.object);
      if (found !== undefined) resolve(found);
    });
  });
  const late = clock.sleep(timeout, stop).then((): Outcome => ({
    ok: false,
    text: `not done in time; see boxwright explain ${definition.singular}/${name}${saidBy(last)}`,
  }));
  const following = informer.start(stop);
  try {
    return await Promise.race([outcome, late]);
  } finally {
    ended.abort(new Error('waiting has ended'));
    await Promise.allSettled([following, late]);
  }
}

function saidBy(resource: WatchedResource | undefined): string {
  const ready = resource?.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined ? ' (no operator has answered)' : ` (it says ${ready.reason})`;
}
