import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { renderKubeconfig, startControlPlane, streamProgress } from '../../devcluster/index.ts';
import type { KubeConfigOptions } from '../../kube/index.ts';
import type { CliIo } from '../command.ts';
import { CommandFailedError } from '../exit-codes.ts';
import type { DevFlags } from './flags.ts';

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
      access: { file: kubeconfig, context },
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
    shell: [`export KUBECONFIG=${path}`, `export PATH=${dirname(programs.kubectl)}:$PATH`],
    kubectl: 'kubectl',
    broken,
    stop: () => running.stop(),
  };
}
