import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { ServiceTransportError } from '../port.ts';
import { listenOnLoopback } from '../../base/proxy/test-listen.ts';
import type { PortRequest } from '../port.ts';
import { rejectionOf } from '../scripted-port.ts';
import type { Resolve } from './resolve.ts';
import { testCertificate } from './test-certificate.ts';
import { createUndiciPort } from './undici-port.ts';
import type { ClosablePort, UndiciPortOptions } from './undici-port.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

/** Listens on loopback until the test ends; the port. */
async function listen(server: Server): Promise<number> {
  const { port, stop } = await listenOnLoopback(server);
  closers.push(stop);
  return port;
}

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  return listen(createServer(handle));
}

function open(endpoint: string, options: Partial<UndiciPortOptions> = {}): ClosablePort {
  const port = createUndiciPort({
    endpoint,
    allowedHosts: ['*:*'],
    allowInsecure: true,
    allowLoopback: true,
    clock: systemClock,
    ...options,
  });
  closers.push(() => port.close());
  return port;
}

const get: PortRequest = {
  method: 'GET',
  path: '/services/boxes',
  headers: {},
  maxBytes: 1_000,
  timeoutMs: 5_000,
};
const post: PortRequest = { ...get, method: 'POST', body: '{}' };

/** What a POST ends with when the other side does this upon its first bytes. */
async function failure(
  onRequest: (socket: Socket) => void,
  options: Partial<UndiciPortOptions> = {},
  request: PortRequest = post,
): Promise<unknown> {
  const port = await listen(createTcpServer((socket) => socket.once('data', () => onRequest(socket))));
  return rejectionOf(open(`http://127.0.0.1:${port}`, options).send(request));
}

/** A TLS server with the test certificate. */
async function secure(): Promise<number> {
  return listen(createTlsServer(testCertificate, (_, response) => response.end('{}')));
}

const toLoopback: Resolve = (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
const toNowhere: Resolve = (_, done) =>
  done(Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }), []);

describe('answers', () => {
  it('brings status, headers and body as they are, and sends what it was given', async () => {
    const seen: unknown[] = [];
    const port = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push(
          request.method,
          request.url,
          request.headers['service-token'],
          Buffer.concat(chunks).toString(),
        );
        response.writeHead(418, { 'X-Odd': ['a', 'b'], 'content-type': 'text/html' }).end('<html>');
      });
    });
    const answer = await open(`http://127.0.0.1:${port}/base/`).send({
      ...post,
      headers: { 'service-token': 't' },
    });
    expect(seen).toEqual(['POST', '/base/services/boxes', 't', '{}']);
    expect(answer).toMatchObject({ status: 418, headers: { 'x-odd': 'a, b', 'content-type': 'text/html' } });
    expect(Buffer.from(answer.body).toString()).toBe('<html>');
  });

  it('never follows a redirect', async () => {
    let elsewhere = 0;
    const other = await serve((_, response) => {
      elsewhere++;
      response.end();
    });
    const port = await serve((_, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${other}/steal` }).end();
    });
    expect(await open(`http://127.0.0.1:${port}`).send(post)).toMatchObject({ status: 307 });
    expect(elsewhere).toBe(0);
  });

  it.each([
    [3, { status: 200 }],
    [1_000, { code: 'Broken', maybeSent: true }],
  ])('takes a few answers 1xx, and gives up one that does not begin: %d', async (count, wanted) => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => {
          socket.write('HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n'.repeat(count));
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}');
        });
      }),
    );
    const answer = await open(`http://127.0.0.1:${port}`)
      .send(get)
      .catch((error: unknown) => error);
    expect(answer).toMatchObject(wanted);
  });

  it('uses connections again', async () => {
    const remotes = new Set<number | undefined>();
    const port = await serve((request, response) => {
      remotes.add(request.socket.remotePort);
      response.end('{}');
    });
    const client = open(`http://127.0.0.1:${port}`);
    for (let i = 0; i < 10; i++) await client.send(get);
    // Two, since the next call may come before the pool notices that the first connection is idle.
    expect(remotes.size).toBeLessThanOrEqual(2);
  });

  it.each(['content-length', 'chunked'])('stops reading an answer that is too large (%s)', async (how) => {
    const port = await serve((_, response) => {
      if (how === 'content-length') response.setHeader('content-length', 10_000_000);
      response.write('x'.repeat(2_000));
      const feed = (): void => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', feed);
      feed();
    });
    const error = await rejectionOf(open(`http://127.0.0.1:${port}`).send(get));
    expect(error).toMatchObject({ code: 'TooLarge', maybeSent: true });
  });
});

describe('broken connections', () => {
  it('may have sent what was reset before the headers', async () => {
    expect(await failure((socket) => socket.resetAndDestroy())).toMatchObject({
      code: 'Broken',
      maybeSent: true,
    });
  });

  it('may have sent what was closed before the headers', async () => {
    expect(await failure((socket) => socket.end())).toMatchObject({ code: 'Broken', maybeSent: true });
  });

  it('may have sent what was reset within the body', async () => {
    const error = await failure((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc', () => socket.resetAndDestroy());
    });
    expect(error).toMatchObject({ code: 'Broken', maybeSent: true });
  });

  it('does not take a cut-off body for the whole', async () => {
    const error = await failure((socket) => {
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n');
    });
    expect(error).toMatchObject({ code: 'Broken', maybeSent: true });
  });

  it('takes what is not HTTP for broken', async () => {
    const error = await failure((socket) => socket.end('SSH-2.0-OpenSSH\r\n'));
    expect(error).toMatchObject({ code: 'Broken', maybeSent: true });
  });

  it('gives up when no headers come', async () => {
    const error = await failure(() => undefined, {}, { ...post, timeoutMs: 100 });
    expect(error).toMatchObject({ code: 'Timeout', maybeSent: true });
  });

  it('gives up on headers by the limit of its own', async () => {
    const error = await failure(() => undefined, { headersTimeoutMs: 50 });
    expect(error).toMatchObject({ code: 'Timeout', maybeSent: true });
  });

  it('gives up on a body that drips for ever', async () => {
    const error = await failure(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n');
        const drip = setInterval(() => socket.write('x'), 5);
        socket.on('close', () => clearInterval(drip));
        socket.on('error', () => undefined);
      },
      {},
      { ...get, timeoutMs: 150 },
    );
    expect(error).toMatchObject({ code: 'Timeout', maybeSent: true });
  });

  it('shows nothing of the request in its errors', async () => {
    const error = await failure(
      (socket) => socket.resetAndDestroy(),
      {},
      {
        ...post,
        path: '/services/CANARY?x=CANARY',
        headers: { 'service-token': 'CANARY' },
        body: 'CANARY',
      },
    );
    expect(error).toBeInstanceOf(ServiceTransportError);
    expect(
      JSON.stringify([String(error), Object.entries(error as Error), (error as Error).stack]),
    ).not.toContain('CANARY');
    expect((error as Error).cause).toBeUndefined();
  });
});

describe('connecting', () => {
  it('knows that nothing was sent when the connection is refused', async () => {
    const server = createTcpServer();
    const port = await listen(server);
    await closers.pop()?.();
    const error = await rejectionOf(open(`http://127.0.0.1:${port}`).send(post));
    expect(error).toMatchObject({ code: 'Refused', maybeSent: false });
    expect(String(error)).toContain('ECONNREFUSED');
  });

  it('knows that nothing was sent when the host has no address', async () => {
    const error = await rejectionOf(open('http://deploy.invalid', { resolve: toNowhere }).send(post));
    expect(error).toMatchObject({ code: 'Refused', maybeSent: false });
    expect(String(error)).toContain('ENOTFOUND');
  });

  it('knows that nothing was sent when the look-up takes for ever', async () => {
    const error = await rejectionOf(
      open('http://deploy.example.com', { resolve: () => undefined }).send({ ...post, timeoutMs: 50 }),
    );
    expect(error).toMatchObject({ code: 'Timeout', maybeSent: false });
  });

  it('connects to the address that was checked, without looking it up again', async () => {
    const port = await serve((request, response) => response.end(request.headers.host));
    let lookups = 0;
    const resolve: Resolve = (_, done) => {
      lookups++;
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const answer = await open(`http://deploy.example.com:${port}`, { resolve }).send(get);
    expect(Buffer.from(answer.body).toString()).toBe(`deploy.example.com:${port}`);
    expect(lookups).toBe(1);
  });

  it.each([
    ['127.0.0.1', 4],
    ['::ffff:127.0.0.1', 6],
    ['169.254.169.254', 4],
    ['fe80::1', 6],
  ])('does not call a name that leads to %s', async (address, family) => {
    let connected = 0;
    const port = await listen(createTcpServer(() => connected++));
    const resolve: Resolve = (_, done) =>
      done(null, [
        { address: '192.0.2.1', family: 4 },
        { address, family },
      ]);
    const client = open(`http://deploy.example.com:${port}`, { resolve, allowLoopback: false });
    expect(await rejectionOf(client.send(post))).toMatchObject({ code: 'NotAllowed', maybeSent: false });
    expect(connected).toBe(0);
  });
});

describe('TLS', () => {
  it('refuses a certificate that it has no reason to trust', async () => {
    const error = await rejectionOf(open(`https://localhost:${await secure()}`).send(post));
    expect(error).toMatchObject({ code: 'Tls', maybeSent: false });
    expect(String(error)).toContain('tls.caRef');
  });

  it('trusts the CA of the connection', async () => {
    const client = open(`https://localhost:${await secure()}`, { ca: testCertificate.cert });
    expect(await client.send(get)).toMatchObject({ status: 200 });
  });

  it('refuses a certificate of another name', async () => {
    const client = open(`https://deploy.example.com:${await secure()}`, {
      ca: testCertificate.cert,
      resolve: toLoopback,
    });
    const [one, two] = await Promise.all([rejectionOf(client.send(post)), rejectionOf(client.send(post))]);
    expect(one).toMatchObject({ code: 'Tls', maybeSent: false });
    expect(two).toMatchObject({ code: 'Tls', maybeSent: false });
  });

  it('knows that nothing was sent when the other side does not speak TLS', async () => {
    const port = await serve((_, response) => response.end());
    const error = await rejectionOf(open(`https://localhost:${port}`).send(post));
    expect(error).toMatchObject({ maybeSent: false });
  });
});

describe('aborts', () => {
  it('rejects with the reason and breaks the call', async () => {
    const closed = Promise.withResolvers<void>();
    const abort = new AbortController();
    const reason = new Error('leadership lost');
    const port = await serve((request) => {
      request.socket.on('close', () => closed.resolve());
      abort.abort(reason);
    });
    expect(await rejectionOf(open(`http://127.0.0.1:${port}`).send({ ...post, signal: abort.signal }))).toBe(
      reason,
    );
    await closed.promise;
  });

  it('sends nothing when it is aborted while connecting', async () => {
    let requests = 0;
    const port = await serve((_, response) => {
      requests++;
      response.end('{}');
    });
    const looked = Promise.withResolvers<() => void>();
    let first = true;
    const resolve: Resolve = (_, done) => {
      const answer = (): void => done(null, [{ address: '127.0.0.1', family: 4 }]);
      if (first) looked.resolve(answer);
      else answer();
      first = false;
    };
    const client = open(`http://deploy.example.com:${port}`, { resolve, connections: 1 });
    const abort = new AbortController();
    const rejection = rejectionOf(client.send({ ...post, signal: abort.signal }));
    const goOn = await looked.promise;
    abort.abort(new Error('stop'));
    expect(await rejection).toMatchObject({ message: 'stop' });
    goOn();
    // The next call goes over the connection that the first one opened.
    expect(await client.send(get)).toMatchObject({ status: 200 });
    expect(requests).toBe(1);
  });

  it('lets what is under way end when it is closed, and takes nothing more', async () => {
    const asked = Promise.withResolvers<ServerResponse>();
    const port = await serve((_, response) => asked.resolve(response));
    const client = open(`http://127.0.0.1:${port}`);
    const running = client.send(post);
    const response = await asked.promise;
    const closed = client.close();
    expect(await rejectionOf(client.send(post))).toMatchObject({ code: 'Refused', maybeSent: false });
    response.end('{}');
    expect(await running).toMatchObject({ status: 200 });
    await closed;
  });
});
