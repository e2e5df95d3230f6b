import type { TestProject } from 'vitest/node';
import { systemClock } from '../../src/base/clock.ts';
import { startControlPlane, streamProgress, type ControlPlane } from '../../src/devcluster/index.ts';

/** What a test file gets of the one control plane of the test run; read it through `testCluster()`. */
export interface ProvidedControlPlane {
  server: string;
  ca: string;
  cert: string;
  key: string;
  kubeconfigPath: string;
  kubectl: string;
  helm: string;
  auditLogPath: string;
  pids: number[];
  /** Holds the authority that signs client certificates for further users. */
  pkiDir: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    controlPlane: ProvidedControlPlane;
  }
}

/** Vitest global set-up: starts one control plane for the run; the returned function ends it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = await startControlPlane({
    env: process.env,
    clock: systemClock,
    progress: streamProgress(process.stderr, systemClock),
  });
  project.provide('controlPlane', provided(running));
  return () => running.stop();
}

/** What `testCluster` needs of a control plane. */
export function provided(running: ControlPlane): ProvidedControlPlane {
  return {
    server: running.server,
    ca: running.ca,
    cert: running.admin.cert,
    key: running.admin.key,
    kubeconfigPath: running.kubeconfigPath,
    kubectl: running.programs.kubectl,
    helm: running.programs.helm,
    auditLogPath: running.auditLogPath,
    pids: [...running.pids],
    pkiDir: running.pkiDir,
  };
}
