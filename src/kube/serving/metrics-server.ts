import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type Server as SecureServer } from 'node:https';
import { constants, X509Certificate } from 'node:crypto';
import type { SecureContextOptions } from 'node:tls';
import type { Clock, Timer } from '../../base/clock.ts';
import { silentLogger, type Logger } from '../../base/logger.ts';
import type { Metrics } from '../observe/metrics.ts';
import { readAuthorities, ServingCertificateError, type CertificateSource } from './certificate.ts';
import type { Guard } from './guard.ts';
import { closeServer, listenOn, type Endpoint, type ListenAddress } from './listener.ts';

export interface MetricsServerOptions extends ListenAddress {
  metrics: Metrics;
  clock: Clock;
  logger?: Logger;
  /** Absent: plain HTTP, for everybody who reaches the address. */
  secure?: SecureServing;
}

/** TLS, and who is answered. */
export interface SecureServing {
  certificate: CertificateSource;
  guard: Guard;
  /** File with the authorities whose client certificates are asked for. */
  clientCaFile?: string;
}

/** Between two looks whether files have been exchanged. controller-runtime looks as often. */
const LOOK_EVERY_MS = 10_000;
/** Scrapers are few; more are somebody who only wants to hold connections. */
const MAX_CONNECTIONS = 128;
const HANDSHAKE_MS = 5_000;
const REQUEST_MS = 10_000;

/** With TLS 1.2 only what keeps a recorded connection closed when the key gets known later. */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/**
 * Serves `/metrics` and nothing else: in the open, or over TLS 1.2 and later to those whom a guard lets in.
 * Files of a certificate are read again when they change; what cannot be used is logged, and the server goes
 * on with what it had.
 */
export class MetricsServer implements Endpoint {
  readonly name = 'metrics';
  readonly #options: MetricsServerOptions;
  readonly #logger: Logger;
  #server: Server | undefined;
  #timer: Timer | undefined;
  #material: SecureContextOptions = {};
  #complaint = '';

  constructor(options: MetricsServerOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
  }

  /** @throws ServingCertificateError, or what the address cannot be had for */
  async listen(): Promise<string> {
    const { secure } = this.#options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      this.#answer(request, response).catch(() => response.destroy());
    };
    const limits = {
      requestTimeout: REQUEST_MS,
      headersTimeout: REQUEST_MS,
      // Node looks at the limits this often; by default every 30 s, for which silent clients would hold their places.
      connectionsCheckingInterval: 1_000,
    };
    if (secure === undefined) {
      const server = createServer(limits, answer);
      server.maxConnections = MAX_CONNECTIONS;
      this.#server = server;
      return listenOn(server, 'http', this.#options);
    }
    this.#material = await materialOf(secure);
    const server = withMaterial(() =>
      createSecureServer(
        {
          ...this.#material,
          ...limits,
          minVersion: 'TLSv1.2',
          ciphers: CIPHERS,
          // Sessions are not resumed: each connection shows what it has, and sees the certificate of now.
          secureOptions: constants.SSL_OP_NO_TICKET,
          handshakeTimeout: HANDSHAKE_MS,
          // Whoever shows no good one hears why, from the guard.
          ...(secure.clientCaFile === undefined ? {} : { requestCert: true, rejectUnauthorized: false }),
        },
        answer,
      ),
    );
    server.maxConnections = MAX_CONNECTIONS;
    this.#server = server;
    const url = await listenOn(server, 'https', this.#options);
    this.#lookLater(server, secure);
    return url;
  }

  async close(): Promise<void> {
    this.#timer?.cancel();
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await closeServer(server);
  }

  #lookLater(server: SecureServer, secure: SecureServing): void {
    this.#timer = this.#options.clock.setTimer(LOOK_EVERY_MS, () => {
      void this.#look(server, secure).finally(() => {
        if (this.#server === server) this.#lookLater(server, secure);
      });
    });
  }

  /** Never rejects. */
  async #look(server: SecureServer, secure: SecureServing): Promise<void> {
    try {
      const material = await materialOf(secure);
      const { cert, key, ca } = this.#material;
      if (material.cert === cert && material.key === key && material.ca === ca) {
        this.#complaint = '';
        return;
      }
      withMaterial(() =>
        server.setSecureContext({
          ...material,
          minVersion: 'TLSv1.2',
          ciphers: CIPHERS,
          secureOptions: constants.SSL_OP_NO_TICKET,
        }),
      );
      this.#material = material;
      this.#complaint = '';
      // They began under the old ones.
      server.closeIdleConnections();
      this.#logger.info({ until: endOf(material) }, 'the certificate of the metrics has changed');
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      if (why === this.#complaint) return;
      this.#complaint = why;
      this.#logger.warn(
        { why },
        'the new certificate of the metrics cannot be used, the old one stays in use',
      );
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics, secure } = this.#options;
    const path = (request.url ?? '/').split('?')[0];
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send(response, 405, 'only GET\n', { allow: 'GET, HEAD' });
      return;
    }
    if (path !== '/metrics') {
      send(response, 404, 'here is /metrics\n');
      return;
    }
    const verdict = await secure?.guard.judge(request);
    if (verdict !== undefined && verdict.kind !== 'allowed') {
      send(response, verdict.status, `${verdict.text}\n`, verdict.headers);
      return;
    }
    send(response, 200, await metrics.render(), { 'content-type': metrics.registry.contentType });
  }
}

async function materialOf({ certificate, clientCaFile }: SecureServing): Promise<SecureContextOptions> {
  const [pair, ca] = await Promise.all([
    certificate.read(),
    clientCaFile === undefined ? undefined : readAuthorities(clientCaFile),
  ]);
  return { ...pair, ...(ca === undefined ? {} : { ca }) };
}

/** When the certificate stops being good, for the log. */
function endOf({ cert }: SecureContextOptions): string {
  return new X509Certificate(cert as string).validToDate.toISOString();
}

/** OpenSSL has the last word on what it was given, such as a key that is too short. */
function withMaterial<T>(use: () => T): T {
  try {
    return use();
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ServingCertificateError(`the certificate of the metrics cannot be used (${code})`, { cause });
  }
}

function send(
  response: ServerResponse,
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(body);
}
