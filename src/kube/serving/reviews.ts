import type { KubeAnswer, KubePort } from '../port.ts';

/** Who somebody is, as a TokenReview says it. */
export interface Identity {
  username: string;
  uid: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
}

/** What is asked for: an address of the operator's own, with the verb that RBAC knows it by. */
export interface NonResource {
  path: string;
  verb: 'get';
}

/** Thrown when the API server answered a review with anything but a review. Carries nothing of it. */
export class ReviewError extends Error {
  readonly code = 'Review';
  readonly status: number;

  constructor(review: 'TokenReview' | 'SubjectAccessReview', status: number) {
    super(`the API server answered a ${review} with ${status}`);
    this.name = 'ReviewError';
    this.status = status;
  }

  /** The operator itself may not ask. */
  get isForbidden(): boolean {
    return this.status === 403;
  }
}

/**
 * The two questions that a server in a cluster asks about a caller. Source: Kubernetes API reference,
 * TokenReview (authentication.k8s.io/v1) and SubjectAccessReview (authorization.k8s.io/v1). Neither is tried
 * again: whoever asked comes back by himself.
 */
export class Reviews {
  readonly #port: KubePort;

  /** `port`: with a deadline below that of a scrape, which usually is 10 s. */
  constructor(port: KubePort) {
    this.#port = port;
  }

  /**
   * Whose token this is; undefined when it is nobody's. An identity without a name, and the one that stands for
   * nobody, are nobody's too.
   * @throws ReviewError, KubeTransportError
   */
  async identify(token: string): Promise<Identity | undefined> {
    const answer = await this.#ask('TokenReview', '/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    });
    const status = recordOf(recordOf(answer.body)['status']);
    if (status['authenticated'] !== true || !isBlank(status['error'])) return undefined;
    const user = recordOf(status['user']);
    const identity: Identity = {
      username: textOf(user['username']),
      uid: textOf(user['uid']),
      groups: textsOf(user['groups']),
      extra: Object.fromEntries(
        Object.entries(recordOf(user['extra'])).map(([name, values]) => [name, textsOf(values)]),
      ),
    };
    const nobody = identity.username === '' || identity.username === 'system:anonymous';
    return nobody || identity.groups.includes('system:unauthenticated') ? undefined : identity;
  }

  /**
   * Whether somebody may have this.
   * @throws ReviewError, KubeTransportError
   */
  async permits({ username, uid, groups, extra }: Identity, wanted: NonResource): Promise<boolean> {
    const answer = await this.#ask(
      'SubjectAccessReview',
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: username, uid, groups, extra, nonResourceAttributes: { ...wanted } },
      },
    );
    const status = recordOf(recordOf(answer.body)['status']);
    return status['allowed'] === true && status['denied'] !== true;
  }

  async #ask(review: 'TokenReview' | 'SubjectAccessReview', path: string, body: object): Promise<KubeAnswer> {
    const answer = await this.#port.request({ method: 'POST', path, body });
    if (answer.status !== 201 && answer.status !== 200) throw new ReviewError(review, answer.status);
    return answer;
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}
