/**
 * The one door to the Kubernetes API. Everything above it (client, reflector, elector, recorder) speaks
 * through a {@link KubePort}; production puts undici behind it, tests an in-process API server or a port that
 * crashes, delays and loses answers.
 */
export interface KubePort {
  /**
   * One call, one answer, whatever its status code. Rejects with {@link KubeTransportError} when there is no
   * complete answer, and with the signal's reason when aborted.
   */
  request(request: KubeRequest): Promise<KubeAnswer>;
  /**
   * Opens a watch. Resolves once the headers are there; a status other than 200 comes with its whole body
   * and no events. Rejects as {@link KubePort.request} does; the signal also ends the events, with its reason.
   */
  watch(request: KubeRequest): Promise<KubeWatch>;
}

export interface KubeRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute API path without query, each segment already encoded, such as `/api/v1/namespaces/shop/secrets/db`. */
  path: string;
  query?: Readonly<Record<string, string | number | boolean | undefined>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Defaults to `application/json`; patches name theirs. */
  contentType?: string;
  /** Defaults to `application/json`; {@link METADATA_ONLY} asks for metadata without the rest. */
  accept?: string;
  signal?: AbortSignal;
  /**
   * Where a port may put the items of a list as they arrive, in order, with none of them in the answer's body. A port
   * that has the whole list anyway passes it over.
   */
  onItems?: (items: readonly unknown[]) => void;
}

export interface KubeAnswer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** The parsed JSON body; undefined when there was none; a string when it was not JSON. */
  body: unknown;
}

/**
 * The Accept header that makes the API server answer PartialObjectMetadata, alone, in lists and in watches.
 * Source: Kubernetes API concepts, "Fetching only the metadata of objects" (the type appears there as
 * PartialObjectMetadata and PartialObjectMetadataList of meta.k8s.io/v1).
 */
export const METADATA_ONLY = {
  object: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  list: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
} as const;

/** One line of a watch as it travels: `object` is a resource, a bookmark's stub, or a Status for ERROR. */
export interface WatchLine {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: unknown;
}

export interface KubeWatch {
  status: number;
  headers: Readonly<Record<string, string>>;
  /** The body of an answer other than 200. */
  body?: unknown;
  /** Ends when the server ends the watch; throws {@link KubeTransportError} when the connection breaks. */
  events: AsyncIterable<WatchLine>;
  /** Ends the watch from this side. */
  close(): void;
}

/** Thrown when a call to the API server got no complete answer. */
export class KubeTransportError extends Error {
  readonly code = 'KubeTransport';
  /**
   * Whether the request can have reached the API server: `false` only when it certainly did not (refused
   * connection, failed look-up, failed TLS handshake).
   */
  readonly maybeSent: boolean;

  constructor(message: string, options: { maybeSent: boolean; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.name = 'KubeTransportError';
    this.maybeSent = options.maybeSent;
  }
}

/** Thrown when an answer is larger than what is read of one. Asking for a smaller page helps. */
export class KubeAnswerTooLargeError extends KubeTransportError {
  constructor(message: string) {
    super(message, { maybeSent: true });
    this.name = 'KubeAnswerTooLargeError';
  }
}
