import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import {
  apiServerArguments,
  AUDIT_POLICY,
  controllerManagerArguments,
  etcdArguments,
  files,
  type Layout,
} from './arguments.ts';
import { Authority, newPrivateKey, publicHalf, type Credentials } from './pki/authority.ts';
import { ControlPlaneBrokenError, ControlPlaneStartError, DataDirBusyError } from './errors.ts';
import { FileLock } from './programs/file-lock.ts';
import { freePort, isFree } from './free-port.ts';
import { renderKubeconfig } from './kubeconfig.ts';
import { getPrograms, type Environment, type Programs } from './programs/programs.ts';
import { supervisorScript } from './assets.ts';
import { silentProgress, type Progress } from './progress.ts';
import { ReadinessProbe } from './readiness.ts';
import type { EnvtestOptions } from './envtest/envtest.ts';
import { Supervisor, type ProgramEnd, type SupervisedProgram } from './supervisor/supervised.ts';
import type { ComponentName } from './programs/components.ts';

export interface ControlPlaneOptions {
  /** `TMPDIR`, and what `getPrograms` reads. */
  env: Environment;
  clock: Clock;
  /**
   * Keeps the cluster's data, keys and port from one run to the next.
   * @default a temporary folder, removed at the end
   */
  dataDir?: string;
  /** Ends the start, not a control plane that runs. */
  signal?: AbortSignal;
  /** @default nothing is said */
  progress?: Progress;
  /** As of `getPrograms`. */
  clientsOptional?: boolean;
  /**
   * Whether the API server notes each call; who measures what calls cost leaves it out.
   * @default true
   */
  auditLog?: boolean;
  /**
   * Whether the API server gives profiles of itself under `/debug/pprof`.
   * @default false
   */
  profiling?: boolean;
  /** As of `getPrograms`: without a controller manager nothing is collected, and namespaces do not end. */
  envtest?: EnvtestOptions;
}

/** A running etcd, kube-apiserver and (see {@link ControlPlaneOptions.envtest}) kube-controller-manager. */
export interface ControlPlane {
  /** Such as `https://127.0.0.1:43211`. */
  readonly server: string;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  /** A member of `system:masters`. */
  readonly admin: Credentials;
  /** The administrator's kubeconfig: as text, and as a file. */
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
  readonly programs: Programs;
  /** JSON lines, level Metadata; see `readAuditLog`. */
  readonly auditLogPath: string;
  /** Holds the authority's key: `Authority.open` signs with it in another process. */
  readonly pkiDir: string;
  /** Resolves with an error that tells which one when a program ends by itself; never when `stop` ended it. */
  readonly broken: Promise<ControlPlaneBrokenError>;
  /** Process ids of the supervisor and of the programs. */
  readonly pids: readonly number[];
  /** Process id of one program. */
  pidOf(name: ComponentName): number | undefined;
  /** Signs a client certificate for `user` in `groups`; what they may do is RBAC's matter. */
  credentialsFor(user: string, groups?: readonly string[]): Credentials;
  kubeconfigFor(user: string, groups?: readonly string[]): string;
  /** Ends all processes, and removes what is temporary. */
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 120_000;
const PORT_ATTEMPTS = 5;
const SERVER_HOSTS = [
  'localhost',
  '127.0.0.1',
  '10.0.0.1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
];

/**
 * Gets the programs (fetching or building them if need be) and starts a control plane on loopback. Resolves when it
 * serves requests and its controllers work. Its processes end with this one, whatever way it goes.
 *
 * Throws {@link ControlPlaneStartError}, {@link DataDirBusyError}, or what `getPrograms` throws.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const progress = options.progress ?? silentProgress;
  // Before anything is built in vain.
  supervisorScript();
  const programs = await getPrograms({ ...options, progress });
  const start = new Start(options, programs);
  const step = progress.begin('starting the control plane');
  try {
    const running = await start.run();
    step.end('done');
    return running;
  } catch (error) {
    step.end('failed');
    await start.stop();
    throw error;
  }
}

interface Launched {
  name: ComponentName;
  program: SupervisedProgram;
  logFile: string;
}

/** One start, and what it has to take back. */
class Start {
  readonly #options: ControlPlaneOptions;
  readonly #programs: Programs;
  readonly #layout: Layout;
  readonly #lock: FileLock | undefined;
  readonly #supervisor: Supervisor;
  readonly #launched: Launched[] = [];
  #stopping = false;

  constructor(options: ControlPlaneOptions, programs: Programs) {
    this.#options = options;
    this.#programs = programs;
    const { dataDir } = options;
    if (dataDir !== undefined) this.#lock = lockDataDir(dataDir);
    const run = mkdtempSync(join(options.env['TMPDIR'] ?? tmpdir(), 'boxwright-'));
    const keep = resolve(dataDir ?? run);
    this.#layout = { run, etcdData: join(keep, 'etcd'), pki: join(keep, 'pki') };
    mkdirSync(this.#layout.pki, { recursive: true, mode: 0o700 });
    // What is thrown away at the end need not end in good order.
    this.#supervisor = new Supervisor({ graceMs: dataDir === undefined ? 0 : 5_000, remove: [run] });
  }

  async run(): Promise<ControlPlane> {
    const authority = Authority.open(this.#layout.pki, this.#options.clock);
    this.#writeSettings(authority);
    this.#launch('etcd', this.#programs.etcd, etcdArguments(this.#layout));
    const admin = authority.client('boxwright-admin', ['system:masters']);
    const server = await this.#startApiServer(authority, admin);
    const at = files(this.#layout);
    const kubeconfigFor = (user: string, credentials: Credentials): string =>
      renderKubeconfig({ server, ca: authority.cert, user, credentials });
    const kubeconfig = kubeconfigFor('boxwright-admin', admin);
    writeFileSync(at.adminKubeconfig, kubeconfig, { mode: 0o600 });
    const controllerManager = this.#programs['kube-controller-manager'];
    if (controllerManager !== undefined) {
      await this.#startControllerManager(controllerManager, authority, server, admin);
    }
    return {
      server,
      ca: authority.cert,
      admin,
      kubeconfig,
      kubeconfigPath: at.adminKubeconfig,
      programs: this.#programs,
      auditLogPath: at.auditLog,
      pkiDir: this.#layout.pki,
      pids: [this.#supervisor.pid, ...this.#launched.map(({ program }) => program.pid)].filter(
        (pid) => pid !== undefined,
      ),
      pidOf: (name) => this.#launched.find((launched) => launched.name === name)?.program.pid,
      broken: this.#broken(),
      credentialsFor: (user, groups) => authority.client(user, groups),
      kubeconfigFor: (user, groups) => kubeconfigFor(user, authority.client(user, groups)),
      stop: () => this.stop(),
    };
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#supervisor.stop();
    this.#lock?.release();
    rmSync(this.#layout.run, { recursive: true, force: true });
  }

  #writeSettings(authority: Authority): void {
    const at = files(this.#layout);
    writeFileSync(at.auditPolicy, AUDIT_POLICY);
    const serving = authority.server(SERVER_HOSTS);
    writeFileSync(at.serverCert, serving.cert);
    writeFileSync(at.serverKey, serving.key, { mode: 0o600 });
    // Kept: a new key would make every token that pods and people hold invalid.
    if (!existsSync(at.accountKey)) writeFileSync(at.accountKey, newPrivateKey(), { mode: 0o600 });
    writeFileSync(at.accountPublicKey, publicHalf(readFileSync(at.accountKey, 'utf8')));
  }

  async #startApiServer(authority: Authority, admin: Credentials): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const port = await this.#choosePort(attempt);
      const program = this.#programs['kube-apiserver'];
      const args = apiServerArguments(this.#layout, port, this.#options);
      const launched = this.#launch('kube-apiserver', program, args);
      const server = `https://127.0.0.1:${port}`;
      const probe = new ReadinessProbe(server, authority.cert, admin);
      try {
        await this.#waitFor(probe, '/readyz');
        writeFileSync(files(this.#layout).port, String(port));
        return server;
      } catch (error) {
        const lostPort =
          launched.program.end !== undefined && readLog(launched.logFile).includes('address already in use');
        if (!lostPort || attempt === PORT_ATTEMPTS) throw error;
        this.#launched.splice(this.#launched.indexOf(launched), 1);
        rmSync(launched.logFile, { force: true });
      } finally {
        await probe.close();
      }
    }
  }

  async #startControllerManager(
    program: string,
    authority: Authority,
    server: string,
    admin: Credentials,
  ): Promise<void> {
    const user = 'system:kube-controller-manager';
    const credentials = authority.client(user);
    writeFileSync(
      files(this.#layout).managerKubeconfig,
      renderKubeconfig({ server, ca: authority.cert, user, credentials }),
      { mode: 0o600 },
    );
    this.#launch('kube-controller-manager', program, controllerManagerArguments(this.#layout));
    const probe = new ReadinessProbe(server, authority.cert, admin);
    try {
      // It makes this one as soon as its controllers run. (On old data it is there already: then the first
      // second may pass without controllers.)
      await this.#waitFor(probe, '/api/v1/namespaces/default/serviceaccounts/default');
    } finally {
      await probe.close();
    }
  }

  #launch(name: ComponentName, command: string, args: string[]): Launched {
    const logFile = join(this.#layout.run, `${name}.log`);
    const program = this.#supervisor.start({
      command,
      args,
      env: { PATH: this.#options.env['PATH'], HOME: this.#layout.run, TMPDIR: this.#layout.run },
      logFile,
      cwd: this.#layout.run,
    });
    const launched = { name, program, logFile };
    this.#launched.push(launched);
    return launched;
  }

  #waitFor(probe: ReadinessProbe, path: string): Promise<void> {
    const check = (): void => {
      for (const launched of this.#launched) {
        if (launched.program.end === undefined) continue;
        throw new ControlPlaneStartError(describeEnd(launched, launched.program.end));
      }
    };
    const { clock, signal } = this.#options;
    return probe.waitFor(path, { clock, signal, check, timeoutMs: READY_TIMEOUT_MS });
  }

  async #broken(): Promise<ControlPlaneBrokenError> {
    const ends = this.#launched.map(async (launched) => ({ launched, end: await launched.program.ended }));
    const { launched, end } = await Promise.race(ends);
    if (this.#stopping) return new Promise(() => undefined);
    return new ControlPlaneBrokenError(describeEnd(launched, end));
  }

  /** With a data directory the port of the last run, so that its kubeconfig stays good. */
  async #choosePort(attempt: number): Promise<number> {
    const file = files(this.#layout).port;
    if (attempt === 1 && existsSync(file)) {
      const last = Number(readFileSync(file, 'utf8'));
      if (await isFree(last)) return last;
    }
    return freePort();
  }
}

function describeEnd({ name, logFile }: Launched, { error, code, signal }: ProgramEnd): string {
  const how = error ?? signal ?? `exit code ${code}`;
  const tail = readLog(logFile).trimEnd().split('\n').slice(-10).join('\n');
  return `${name} ended by itself (${how}). The end of its log:\n${tail}`;
}

function lockDataDir(dataDir: string): FileLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, 'lock');
  const lock = FileLock.tryAcquire(path);
  if (lock === undefined) throw new DataDirBusyError(dataDir, FileLock.owner(path));
  return lock;
}

function readLog(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8');
  } catch {
    // It was never started, or has written nothing.
    return '';
  }
}
