import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { listenOnLoopback, type Listening } from './test-listen.ts';

/** For tests: a proxy on loopback that takes every name for this machine. */
export interface TestProxy extends Listening {
  /** What it was asked for, in order. */
  asked: { line: string; authorization: string | undefined; token: unknown }[];
}

/** Starts one; with `refuse` it answers everything with that status. */
export async function startTestProxy(refuse?: number): Promise<TestProxy> {
  const asked: TestProxy['asked'] = [];
  const note = ({ method, url, headers }: IncomingMessage): void => {
    asked.push({
      line: `${method} ${url}`,
      authorization: headers['proxy-authorization'],
      token: headers['service-token'],
    });
  };
  const server = createServer((incoming, response) => {
    note(incoming);
    if (refuse === undefined) forward(incoming, response);
    else response.writeHead(refuse, { 'proxy-authenticate': 'Basic' }).end('no');
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    note(incoming);
    if (refuse === undefined) tunnel(incoming, socket);
    else socket.end(`HTTP/1.1 ${refuse} Refused\r\ncontent-length: 6\r\n\r\nCANARY`);
  });
  return { ...(await listenOnLoopback(server)), asked };
}

function forward(incoming: IncomingMessage, response: ServerResponse): void {
  const { port, pathname, search } = new URL(incoming.url ?? '');
  const headers = { ...incoming.headers };
  delete headers['proxy-authorization'];
  const path = pathname + search;
  const outgoing = request({ host: '127.0.0.1', port, path, method: incoming.method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.writeHead(502).end());
  incoming.pipe(outgoing);
}

function tunnel({ url }: IncomingMessage, socket: Socket): void {
  const far = connect(Number(url?.split(':').at(-1)), '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    far.pipe(socket).pipe(far);
  });
  far.on('error', () => socket.destroy());
  socket.on('error', () => far.destroy());
}
