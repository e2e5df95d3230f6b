import { dirname } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '../../src/base/clock.ts';
import { startControlPlane, streamProgress, type ControlPlane } from '../../src/devcluster/index.ts';
import { makeRightsFolder } from './rights/folder.ts';
import { judgeRights } from './rights/verdict.ts';

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

/** Tests that together use every right that an operator has. */
const END_TO_END = /\/test\/(e2e\/.*|chart\/rights)\.test\.ts$/;

/**
 * Vitest global set-up: starts one control plane for the run; the returned function compares what operators did
 * with what they may, and ends it.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const running = await startControlPlane({
    env: process.env,
    clock: systemClock,
    progress: streamProgress(process.stderr, systemClock),
  });
  const folder = makeRightsFolder(dirname(running.kubeconfigPath));
  project.provide('controlPlane', provided(running));
  project.provide('rightsFolder', folder);
  return async () => {
    try {
      const { auditLogPath } = running;
      const whole = await ranWhole(project);
      await judgeRights({
        folder,
        auditLogPath,
        whole,
        print: (text) => process.stdout.write(`\n${text}\n`),
      });
    } finally {
      await running.stop();
    }
  };
}

/** Whether every end-to-end test of the project ran, and well. */
async function ranWhole(project: TestProject): Promise<boolean> {
  const { testFiles } = await project.globTestFiles();
  const wanted = testFiles.filter((path) => END_TO_END.test(path));
  const modules = project.vitest.state.getTestModules();
  return (
    wanted.some((path) => path.endsWith('/chart/rights.test.ts')) &&
    wanted.every((path) =>
      modules.some(
        (module) =>
          module.project === project &&
          module.moduleId === path &&
          module.ok() &&
          [...module.children.allTests('skipped')].length === 0,
      ),
    )
  );
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
