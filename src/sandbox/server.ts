import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Admin } from './admin/admin.ts';
import { adminHandler } from './admin/http.ts';
import { MAX_UPLOAD_BYTES } from './edge/edge.ts';
import type { Answer } from './edge/chunks.ts';
import { ConnectionLost, type SandboxAnswer, type SandboxRequest } from './http.ts';

export interface ListenOptions {
  /** @default 127.0.0.1 */
  host?: string;
  /** 0 takes a free one. @default 0 */
  port?: number;
  /** 0 takes a free one. @default 0 */
  adminPort?: number;
  /** Bearer token of the admin port; generated when not given. */
  adminToken?: string;
}

/** Where the sandbox listens. */
export interface Address {
  url: string;
  adminUrl: string;
  adminToken: string;
}

export interface Servers {
  address: Address;
  close(): Promise<void>;
}

type Handle = (request: SandboxRequest) => Promise<Answer>;

/** What happens when a call gets no answer from its handler. */
interface Failures {
  /** Told about errors that answer 500. */
  onError: (error: unknown) => void;
  /** Calls that end with the sandbox are no failures. */
  stopped: AbortSignal;
}

/** Opens the service's port and the admin port. */
export async function startServers(
  handle: Handle,
  admin: Admin,
  options: ListenOptions & Failures & { makeToken: () => string },
): Promise<Servers> {
  const host = options.host ?? '127.0.0.1';
  const adminToken = options.adminToken ?? options.makeToken();
  const { onError, stopped } = options;
  const port = { host, limit: MAX_UPLOAD_BYTES, onError, stopped };
  const service = await listen(handle, { ...port, port: options.port ?? 0 });
  try {
    const control = await listen(adminHandler(admin, adminToken), {
      ...port,
      port: options.adminPort ?? 0,
      limit: MAX_STATE_BYTES,
    });
    return {
      address: { url: service.url, adminUrl: control.url, adminToken },
      close: async () => {
        await Promise.all([service.close(), control.close()]);
      },
    };
  } catch (error) {
    await service.close();
    throw error;
  }
}

/** Largest state that is imported, bytes. */
const MAX_STATE_BYTES = 500_000_000;

interface Serving extends Failures {
  /** Of a body, bytes. */
  limit: number;
}

async function listen(
  handle: Handle,
  { host, port, ...how }: Serving & { host: string; port: number },
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    void serve(handle, how, incoming, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port: bound } = server.address() as AddressInfo;
  const shown = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shown}:${bound}`, close: () => close(server) };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function serve(
  handle: Handle,
  { limit, onError, stopped }: Serving,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const hungUp = new AbortController();
  response.once('close', () => hungUp.abort(new Error('the caller hung up')));
  try {
    const body = await read(incoming, limit);
    if (body === undefined) {
      await send(response, tooLarge(limit));
      return;
    }
    const answer = await handle({
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers: headersOf(incoming),
      body,
      signal: hungUp.signal,
    });
    await send(response, answer);
  } catch (error) {
    if (error instanceof ConnectionLost) incoming.socket.resetAndDestroy();
    else if (hungUp.signal.aborted || stopped.aborted) incoming.socket.destroy();
    else {
      onError(error);
      if (response.headersSent) incoming.socket.destroy();
      else
        await send(response, refusal(500, 'Internal Server Error', 'the sandbox failed; its log says why'));
    }
  }
}

/** The body, undefined when it is longer than anything that is taken. */
async function read(incoming: IncomingMessage, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > limit) return undefined;
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
}

function headersOf(incoming: IncomingMessage): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  const { status, headers } = answer;
  if (!('body' in answer)) {
    response.writeHead(status, headers);
    for (const chunk of answer.chunks) {
      // Others get their turn between two chunks, and no more is made than the caller reads.
      if (response.write(chunk)) await turn();
      else await drained(response);
      if (response.destroyed) return;
    }
    response.end();
    return;
  }
  const { body } = answer;
  const bodyless = status === 204 || status === 304;
  response.writeHead(status, {
    ...headers,
    ...(bodyless ? {} : { 'content-length': String(body.byteLength) }),
  });
  response.end(bodyless ? undefined : body);
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves when more can be written, or nobody reads any more. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end);
      response.off('close', end);
      resolve();
    };
    response.once('drain', end);
    response.once('close', end);
  });
}

const tooLarge = (limit: number): SandboxAnswer =>
  refusal(413, 'Content Too Large', `the body is longer than ${limit} bytes`);

function refusal(code: number, error: string, message: string): SandboxAnswer {
  return {
    status: code,
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: Buffer.from(JSON.stringify({ message, error, code })),
  };
}
