import { createServer as createHttp, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createHttps, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** An HTTP or HTTPS server on a loopback port, whose behaviour a test changes as it goes. */
export interface LoopbackServer extends AsyncDisposable {
  url: string;
  handler: Handler;
  readonly requests: IncomingMessage[];
  /** Connections accepted so far, and those open now. */
  connections: number;
  readonly sockets: ReadonlySet<Socket>;
}

export async function loopbackServer(handler: Handler, tls?: ServerOptions): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  const state = {
    url: '',
    handler,
    requests: [] as IncomingMessage[],
    connections: 0,
    sockets,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    state.requests.push(request);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => state.handler(request, response, Buffer.concat(chunks).toString('utf8')));
    request.on('error', () => undefined);
  };
  const server = tls === undefined ? createHttp(listener) : createHttps(tls, listener);
  server.on('connection', (socket: Socket) => {
    state.connections++;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return state;
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
