import { writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { renderKubeconfig, startControlPlane, streamProgress } from '../../devcluster/index.ts';
import type { KubeConfigOptions } from '../../kube/index.ts';
import type { CliIo } from '../command.ts';
import { CommandFailedError, UsageError } from '../exit-codes.ts';
import { proxiesOf } from '../proxies.ts';
import { DEV_FLAGS, type DevFlags } from './flags.ts';

/** The cluster that the examples go to. */
export interface DevCluster {
  embedded: boolean;
  access: KubeConfigOptions;
  /** What kubectl needs, as words of a shell. */
  shell: string[];
  /** Arguments that make kubectl talk to it. */
  kubectl: string;
  /** Rejects when it breaks down by itself; else stays pending. */
  broken: Promise<never>;
  stop(): Promise<void>;
}

/** Codes of errors that say what the machine, or this copy of the program, lacks. */
const LACKS: ReadonlySet<unknown> = new Set(['GoMissing', 'AssetsIncomplete', 'PartsMissing']);
const NEEDS = `there is nothing to make a control plane of. Any of these will do:
  a way to the archives that --envtest-index lists, or what setup-envtest keeps on this machine
  Go 1.26 or newer on PATH: the programs are built once, which takes some minutes
  KUBEBUILDER_ASSETS=<folder>, which holds kube-apiserver and etcd
  a cluster of yours: --context <name>, or --kubeconfig <file>`;

/** Starts a control plane, or takes the cluster that the flags name. `folder` takes the kubeconfig. */
export async function openCluster(
  flags: DevFlags,
  folder: string,
  io: CliIo,
  clock: Clock,
): Promise<DevCluster> {
  const { kubeconfig, context, namespace } = flags;
  if (kubeconfig !== undefined || context !== undefined) {
    const words = [
      'kubectl',
      ...(kubeconfig === undefined ? [] : [`--kubeconfig ${kubeconfig}`]),
      ...(context === undefined ? [] : [`--context ${context}`]),
    ];
    return {
      embedded: false,
      access: { file: kubeconfig, context, env: io.env },
      shell: [],
      kubectl: `${words.join(' ')} -n ${namespace}`,
      broken: new Promise(() => undefined),
      stop: () => Promise.resolve(),
    };
  }
  const running = await startControlPlane({
    env: io.env,
    clock,
    signal: io.interrupt.signal,
    progress: streamProgress(io.stderr, clock),
    clientsOptional: true,
    envtest: { index: envtestIndex(flags), proxies: proxiesOf(io.env) },
  }).catch((cause: unknown): never => {
    if (!LACKS.has((cause as { code?: unknown }).code)) throw cause;
    throw new CommandFailedError(NEEDS, { cause });
  });
  const { server, ca, admin: credentials, programs } = running;
  const text = renderKubeconfig({ server, ca, user: 'boxwright-admin', credentials, namespace });
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, text, { mode: 0o600 });
  const broken = running.broken.then((error): never => {
    throw new CommandFailedError('the control plane broke down', { cause: error });
  });
  // Whoever waits for it hears of it; before that, nobody does.
  broken.catch(() => undefined);
  return {
    embedded: true,
    access: { text },
    shell: [
      `export KUBECONFIG=${path}`,
      isAbsolute(programs.kubectl)
        ? `export PATH=${dirname(programs.kubectl)}:$PATH`
        : '# kubectl is not installed here: https://kubernetes.io/docs/tasks/tools/',
    ],
    kubectl: 'kubectl',
    broken,
    stop: () => running.stop(),
  };
}

/** Undefined for none. */
function envtestIndex({ envtestIndex: given }: DevFlags): URL | undefined {
  if (given === 'off') return undefined;
  const url = URL.parse(given);
  if (url === null) throw new UsageError(`${DEV_FLAGS.envtestIndex.flag}: ${given} is not a URL`);
  return url;
}
