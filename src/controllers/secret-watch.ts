import type { Clock, Random } from '../base/clock.ts';
import type { Logger } from '../base/logger.ts';
import {
  Informer,
  KubeApiError,
  SECRETS,
  type KubeObject,
  type KubePort,
  type ReflectorNotice,
  type Source,
} from '../kube/index.ts';

/** Options of {@link SecretWatch}. */
export interface SecretWatchOptions {
  port: KubePort;
  clock: Clock;
  random: Random;
  log: Logger;
  /** Follow these namespaces only; absent: all of the cluster. */
  namespaces?: readonly string[];
  onNotice?: (notice: ReflectorNotice) => void;
}

/** Hears that a Secret was made, changed or deleted. Must return at once. */
export type SecretHandler = (namespace: string, name: string) => void;

/** All that is kept of a Secret. */
interface SecretIdentity extends KubeObject {
  metadata: { name: string; namespace?: string | undefined; uid: string; resourceVersion: string };
}

const FLAG = '--watch-secrets';

/**
 * Follows which versions the Secrets have, never what is in them: of each only name, uid and version are kept.
 * Where the right to list or watch them is missing, it says so and the operator does without: that is no reason
 * not to start.
 */
export class SecretWatch implements Source {
  readonly type = SECRETS;
  /** Resolves when every namespace is followed, or refused. */
  readonly synced: Promise<void>;
  readonly #streams: readonly SecretStream[];

  constructor(options: SecretWatchOptions) {
    const { namespaces } = options;
    const followed = namespaces === undefined ? [undefined] : [...new Set(namespaces)];
    this.#streams = followed.map((namespace) => new SecretStream(namespace, options));
    this.synced = Promise.all(this.#streams.map((stream) => stream.answered)).then(() => undefined);
  }

  get hasSynced(): boolean {
    return this.#streams.every((stream) => stream.refused !== undefined || stream.informer.hasSynced);
  }

  get lastActivity(): number {
    return Math.min(...this.#streams.map(({ informer }) => informer.lastActivity));
  }

  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#streams.map(({ informer }) => informer.start(signal)));
  }

  /** Whether a change of a Secret in this namespace is heard of. If not, Secrets have to be looked at. */
  follows(namespace: string): boolean {
    const stream = this.#streams.find((one) => one.namespace === undefined || one.namespace === namespace);
    return stream !== undefined && stream.informer.hasSynced && stream.refused === undefined;
  }

  /** Adds a handler; it first hears of every Secret that is known. Returns what takes it away. */
  onChange(handler: SecretHandler): () => void {
    const ends = this.#streams.map(({ informer }) =>
      informer.onChange(({ object: { metadata } }) => handler(metadata.namespace ?? '', metadata.name)),
    );
    return () => {
      for (const end of ends) end();
    };
  }

  /** What is not followed although it should be, in words for a person; undefined when all is well. */
  problem(): string | undefined {
    const refused = this.#streams.filter((stream) => stream.refused !== undefined);
    const [first] = refused;
    if (first === undefined) return undefined;
    const where = first.namespace === undefined ? 'of the cluster' : `in namespace "${first.namespace}"`;
    const more = refused.length === 1 ? '' : ` and ${refused.length - 1} more`;
    return (
      `the operator may not ${first.refused} Secrets ${where}${more}: grant list and watch on secrets, or switch ` +
      `${FLAG} off; until then a changed Secret is noticed within 5 minutes`
    );
  }
}

/** The Secrets of one namespace, or of the whole cluster. */
class SecretStream {
  readonly namespace: string | undefined;
  readonly informer: Informer<SecretIdentity>;
  /** Resolves when there is a first list, or when it was refused. */
  readonly answered: Promise<void>;
  /** The call that is refused for want of a right; undefined as long as none is. */
  refused: 'list' | 'watch' | undefined;
  readonly #log: Logger;
  #resolveAnswered: () => void = () => undefined;

  constructor(namespace: string | undefined, { port, clock, random, log, onNotice }: SecretWatchOptions) {
    this.namespace = namespace;
    this.#log = log;
    this.informer = new Informer<SecretIdentity>({
      port: this.#noting(port),
      type: SECRETS,
      clock,
      random,
      ...(namespace === undefined ? {} : { namespaces: [namespace] }),
      metadataOnly: true,
      prune: identityOf,
      onNotice: (notice) => {
        // Said once by #note, which a line for each try would bury.
        if (!isRefusal(notice)) onNotice?.(notice);
      },
    });
    const refused = new Promise<void>((resolve) => {
      this.#resolveAnswered = resolve;
    });
    this.answered = Promise.race([this.informer.synced, refused]);
  }

  /** The port, with a look at how lists and watches are answered. */
  #noting(port: KubePort): KubePort {
    return {
      request: async (request) => {
        const answer = await port.request(request);
        this.#note('list', answer.status);
        return answer;
      },
      watch: async (request) => {
        const watch = await port.watch(request);
        this.#note('watch', watch.status);
        return watch;
      },
    };
  }

  #note(call: 'list' | 'watch', status: number): void {
    const fields = { namespace: this.namespace ?? 'all', flag: FLAG, rights: 'list and watch on secrets' };
    if (status === 403) {
      if (this.refused === undefined) {
        this.#log.error(
          { ...fields, refused: call },
          'Secrets are not followed: grant the rights, or switch the flag off; until then they are looked at every so often',
        );
      }
      this.refused = call;
      this.#resolveAnswered();
    } else if (
      status === 200 &&
      this.refused !== undefined &&
      (call === 'watch' || this.refused === 'list')
    ) {
      this.refused = undefined;
      this.#log.info(fields, 'Secrets are followed');
    }
  }
}

function isRefusal(notice: ReflectorNotice): boolean {
  return notice.kind === 'error' && notice.error instanceof KubeApiError && notice.error.status === 403;
}

/** What is kept of a Secret. Its annotations may hold the content: `kubectl apply` puts it there. */
function identityOf({ metadata }: SecretIdentity): SecretIdentity {
  const { name, namespace, uid, resourceVersion } = metadata;
  return { metadata: { name, namespace, uid, resourceVersion } };
}
