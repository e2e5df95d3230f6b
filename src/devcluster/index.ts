/** Finds, fetches or builds a real Kubernetes control plane and runs it: for `boxwright dev` and for tests. See README.md. */
export { isWrite, readAuditLog, type AuditEvent } from './audit-log.ts';
export { Authority, type Credentials } from './pki/authority.ts';
export { startControlPlane, type ControlPlane, type ControlPlaneOptions } from './control-plane.ts';
export {
  AssetsIncompleteError,
  BuildFailedError,
  ControlPlaneBrokenError,
  ControlPlaneStartError,
  DataDirBusyError,
  GoMissingError,
  PartsMissingError,
  ToolsMissingError,
} from './errors.ts';
export type { EnvtestOptions } from './envtest/envtest.ts';
export { renderKubeconfig } from './kubeconfig.ts';
export { cacheFolder, getPrograms, type Programs } from './programs/programs.ts';
export { silentProgress, streamProgress, type Progress, type ProgressStep } from './progress.ts';
