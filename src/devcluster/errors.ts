/** Thrown when a control plane program has to be built and there is no Go. */
export class GoMissingError extends Error {
  readonly code = 'GoMissing';
  constructor(missing: readonly string[], cause?: unknown) {
    super(
      `${missing.join(', ')} must be built and no "go" was found on PATH: install Go 1.26 or newer ` +
        '(https://go.dev/dl/), or set KUBEBUILDER_ASSETS to a folder that holds ' +
        'kube-apiserver, etcd and kube-controller-manager (boxwright dev does without the last one)',
      { cause },
    );
    this.name = 'GoMissingError';
  }
}

/** Thrown when this copy of the program was taken away from what a control plane is made with. */
export class PartsMissingError extends Error {
  readonly code = 'PartsMissing';
  constructor(path: string) {
    super(
      `this copy of the program cannot make a control plane, there is no ${path}: ` +
        'take the whole dist folder that npm run build makes',
    );
    this.name = 'PartsMissingError';
  }
}

/** Thrown when `go build` fails. */
export class BuildFailedError extends Error {
  readonly code = 'BuildFailed';
  constructor(program: string, logFile: string, tail: string) {
    super(`go build of ${program} failed; run again to resume, the whole log is in ${logFile}:\n${tail}`);
    this.name = 'BuildFailedError';
  }
}

/** Thrown when KUBEBUILDER_ASSETS names a folder that lacks what it must hold. */
export class AssetsIncompleteError extends Error {
  readonly code = 'AssetsIncomplete';
  constructor(folder: string, missing: readonly string[]) {
    super(
      `KUBEBUILDER_ASSETS=${folder} holds no ${missing.join(' and no ')}: ` +
        'point it at a folder that does, or unset it to have the programs built',
    );
    this.name = 'AssetsIncompleteError';
  }
}

/** Thrown when kubectl or helm is nowhere. */
export class ToolsMissingError extends Error {
  readonly code = 'ToolsMissing';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ToolsMissingError';
  }
}

/** Thrown when a program of the control plane ends, or is not ready in time, while it starts. */
export class ControlPlaneStartError extends Error {
  readonly code = 'ControlPlaneStart';
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ControlPlaneStartError';
  }
}

/** Thrown when another process already runs a control plane on the same data directory. */
export class DataDirBusyError extends Error {
  readonly code = 'DataDirBusy';
  constructor(dataDir: string, owner: string) {
    super(`${dataDir} is in use by ${owner}: stop that one, or choose another data directory`);
    this.name = 'DataDirBusyError';
  }
}

/** Tells that a program of a running control plane has ended by itself. */
export class ControlPlaneBrokenError extends Error {
  readonly code = 'ControlPlaneBroken';
  constructor(message: string) {
    super(message);
    this.name = 'ControlPlaneBrokenError';
  }
}
