/** Where the API server is and how to speak to it: everything that may change while the process runs. */
export interface ClusterAccess {
  /** Such as `https://10.0.0.1:443`, without trailing slash; may have a path. */
  server: string;
  /** Authorization and Impersonate-User, names in lower case. */
  headers: Readonly<Record<string, string>>;
  tls: TlsMaterial;
}

/** PEM, as Node's tls takes it. */
export interface TlsMaterial {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  servername?: string;
  /** `false` only when the kubeconfig says insecure-skip-tls-verify. */
  rejectUnauthorized?: boolean;
}

/** Gives the present access. */
export interface AccessSource {
  /**
   * @param fresh - true after a 401: caches of tokens and credentials are to be passed by
   * @throws {@link KubeCredentialsError}
   */
  access(fresh: boolean): Promise<ClusterAccess>;
}

/** Thrown when credentials for the API server cannot be had: missing file, failing exec plugin. */
export class KubeCredentialsError extends Error {
  readonly code = 'KubeCredentials';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'KubeCredentialsError';
  }
}
