import { isWrite, type AuditEvent } from '../../src/devcluster/index.ts';
import { Bench } from '../bench/bench.ts';
import { installKinds } from '../api/install.ts';
import { testCluster, type TestCluster } from '../support/cluster.ts';
import { makeIdentity, type OperatorIdentity } from '../support/rights/identity.ts';
import {
  metricsUrlOf,
  startOperatorProgram,
  startSandboxProgram,
  type Program,
  type SandboxProgram,
} from '../support/programs.ts';

/** A call as the embedded service's record keeps it. */
export interface ServiceCall {
  method: string;
  route: string;
  path: string;
}

/** Many instances, an embedded service and an operator, the latter two in processes of their own. */
export class Fleet implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly sandbox: SandboxProgram;
  readonly person: Bench;
  readonly #home: string;
  readonly #user: string;
  readonly #flags: readonly string[];
  readonly #kubeconfigFile: string;
  #operator: Program | undefined;
  endedByItself = 0;

  private constructor(
    cluster: TestCluster,
    parts: {
      sandbox: SandboxProgram;
      person: Bench;
      home: string;
      flags: readonly string[];
      identity: OperatorIdentity;
    },
  ) {
    this.cluster = cluster;
    this.sandbox = parts.sandbox;
    this.person = parts.person;
    this.#home = parts.home;
    this.#flags = parts.flags;
    this.#user = parts.identity.user;
    this.#kubeconfigFile = parts.identity.kubeconfig;
  }

  static async start(options: {
    sandboxFlags: readonly string[];
    operatorFlags: readonly string[];
    /** `spec.poll` of the connection, as YAML. */
    poll: string;
  }): Promise<Fleet> {
    const cluster = testCluster();
    await installKinds(cluster);
    const [shop, home] = await Promise.all([cluster.namespace('fleet'), cluster.namespace('fleet-home')]);
    const sandbox = await startSandboxProgram(options.sandboxFlags);
    const person = await Bench.open(cluster.kubeconfigPath, shop.name);
    const { client } = person;
    const identity = await makeIdentity({ cluster, client, home: home.name, namespaces: [shop.name] });
    const flags = options.operatorFlags;
    const fleet = new Fleet(cluster, { sandbox, person, home: home.name, flags, identity });
    await person.prepare(sandbox, options.poll);
    await fleet.startOperator();
    await person.referencesReady();
    return fleet;
  }

  /**
   * Starts an operator process, without waiting until it leads. One that ends by itself is started again, as
   * a kubelet would: on a busy machine it may lose its lease.
   */
  async startOperator(): Promise<void> {
    const operator = startOperatorProgram({
      kubeconfigFile: this.#kubeconfigFile,
      home: this.#home,
      namespaces: [this.person.namespace],
      flags: this.#flags,
    });
    this.#operator = operator;
    void this.#restart(operator);
    await Promise.race([metricsUrlOf(operator), operator.ended]);
  }

  async #restart(operator: Program): Promise<void> {
    await operator.ended;
    if (this.#operator !== operator) return;
    this.endedByItself++;
    await this.startOperator();
  }

  /** SIGKILL. */
  async killOperator(): Promise<void> {
    const { operator } = this;
    this.#operator = undefined;
    await operator.kill();
  }

  /** SIGTERM. */
  async stopOperator(): Promise<void> {
    const operator = this.#operator;
    this.#operator = undefined;
    await operator?.stop();
  }

  get operator(): Program {
    if (this.#operator === undefined) throw new Error('no operator runs');
    return this.#operator;
  }

  /** Writes of the operator so far, Events and its leader lease aside. */
  kubernetesWrites(): AuditEvent[] {
    return this.cluster
      .auditLog()
      .filter(
        (event) =>
          event.user.username === this.#user &&
          isWrite(event) &&
          event.objectRef?.resource !== 'events' &&
          event.objectRef?.resource !== 'leases',
      );
  }

  calls(): Promise<ServiceCall[]> {
    return this.sandbox.admin('GET', '/calls');
  }

  records(): Promise<{ id: string; name: string; state: string }[]> {
    return this.sandbox.admin('GET', '/records/instances');
  }

  /** The namespaces stay, with what is in them: the control plane of the run goes with all of it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopOperator();
    await this.sandbox.stop();
    await this.person.stop();
  }
}
