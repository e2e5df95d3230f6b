import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { Authority } from '../../devcluster/pki/authority.ts';
import { eventually } from '../../../test/support/eventually.ts';
import {
  json,
  loopbackServer,
  type Handler,
  type LoopbackServer,
} from '../../../test/support/loopback-server.ts';
import type { AccessSource, ClusterAccess } from './auth.ts';
import { KubeAnswerTooLargeError, KubeTransportError, type WatchLine } from '../port.ts';
import { UndiciKubePort, type PortCall, type UndiciKubePortOptions } from './undici-port.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

let folder: string;
let authority: Authority;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kube-transport-'));
  authority = Authority.open(folder, systemClock);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function serve(handler: Handler, tls?: Parameters<typeof loopbackServer>[1]): Promise<LoopbackServer> {
  const server = await loopbackServer(handler, tls);
  cleanups.push(() => server[Symbol.asyncDispose]() as Promise<void>);
  return server;
}

function portTo(
  access: Partial<ClusterAccess> & { server: string },
  options: Partial<UndiciKubePortOptions> = {},
) {
  const source: AccessSource = { access: async () => ({ headers: {}, tls: {}, ...access }) };
  const port = new UndiciKubePort({ source, clock: systemClock, ...options });
  cleanups.push(() => port.close());
  return port;
}

const ok: Handler = (_request, response) => json(response, 200, { kind: 'Widget' });
const get = { method: 'GET', path: '/api/v1/pods' } as const;

async function take(events: AsyncIterable<WatchLine>, count: number): Promise<WatchLine[]> {
  const lines: WatchLine[] = [];
  for await (const line of events) {
    lines.push(line);
    if (lines.length === count) break;
  }
  return lines;
}

function item(i: number): string {
  return `{"metadata":{"name":"pod-${i}"},"spec":{"text":"${'x'.repeat(20_000)}"}}`;
}

describe('UndiciKubePort.request of a list', () => {
  // S3: 500 objects of a megabyte may be on one page.
  it('hands out its items as they arrive, and what stands around them at the end', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[');
      for (let i = 0; i < 500; i++) response.write(`${i === 0 ? '' : ','}${item(i)}`);
      response.end('],"x":1}');
    });
    const names: string[] = [];
    let calls = 0;
    const answer = await portTo({ server: url }).request({
      ...get,
      onItems: (items) => {
        calls += 1;
        for (const { metadata } of items as { metadata: { name: string } }[]) names.push(metadata.name);
      },
    });
    expect(names).toEqual(Array.from({ length: 500 }, (_, i) => `pod-${i}`));
    expect(calls).toBeGreaterThan(100);
    expect(answer).toMatchObject({
      status: 200,
      body: { kind: 'PodList', metadata: { resourceVersion: '7' }, items: [], x: 1 },
    });
  });

  it('is refused where it is none, or ends too soon', async () => {
    for (const body of ['{"items":[1,]}', '{"items":[{"a":1}', '<html>']) {
      const { url } = await serve((_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(body);
      });
      const reading = portTo({ server: url }).request({ ...get, onItems: () => undefined });
      await expect(reading).rejects.toBeInstanceOf(KubeTransportError);
    }
  });

  it('is whole where it is a refusal', async () => {
    const { url } = await serve((_request, response) => json(response, 410, { reason: 'Expired' }));
    const answer = await portTo({ server: url }).request({ ...get, onItems: () => undefined });
    expect(answer).toMatchObject({ status: 410, body: { reason: 'Expired' } });
  });
});

describe('UndiciKubePort.request', () => {
  it('makes 200 calls on at most 24 connections over TLS, presenting the client certificate', async () => {
    const users: string[] = [];
    const server = await serve(
      (request, response) => {
        const peer = (
          request.socket as unknown as { getPeerCertificate(): { subject: { CN: string } } }
        ).getPeerCertificate();
        users.push(peer.subject.CN);
        json(response, 200, {});
      },
      { ...authority.server(['127.0.0.1']), ca: authority.cert, requestCert: true },
    );
    const port = portTo({ server: server.url, tls: { ca: authority.cert, ...authority.client('somebody') } });
    for (let i = 0; i < 10; i++) {
      await Promise.all(Array.from({ length: 20 }, () => port.request(get)));
    }
    expect(server.requests).toHaveLength(200);
    expect(server.connections).toBeLessThanOrEqual(24);
    expect(new Set(users)).toEqual(new Set(['somebody']));
  });

  it('answers another namespace, however many requests of one hang', async () => {
    const server = await serve((request, response) => {
      if (request.url?.includes('/namespaces/small/') === true) json(response, 200, { kind: 'Widget' });
    });
    const port = portTo({ server: server.url });
    const over = new AbortController();
    const hang = { method: 'GET', path: '/api/v1/namespaces/big/secrets/a', signal: over.signal } as const;
    const hanging = Array.from({ length: 60 }, () => port.request(hang).catch(() => undefined));
    await eventually('they hang', () => server.requests.length >= 16, { everyMs: 5 });
    const { status } = await port.request({ method: 'GET', path: '/api/v1/namespaces/small/secrets/a' });
    expect(status).toBe(200);
    expect(server.requests).toHaveLength(17);
    over.abort(new Error('over'));
    await Promise.all(hanging);
  });

  it('sends query, body, content type, accept and credentials', async () => {
    let sent = '';
    const server = await serve((_request, response, body) => {
      sent = body;
      json(response, 201, { made: true }, { 'X-Extra': 'yes' });
    });
    const port = portTo({ server: `${server.url}/gateway/`, headers: { authorization: 'Bearer t' } });
    const answer = await port.request({
      method: 'PATCH',
      path: '/api/v1/namespaces/shop/pods/a',
      query: { fieldManager: 'me & you', force: true, gone: undefined },
      body: { a: 'ü' },
      contentType: 'application/merge-patch+json',
      accept: 'application/json;as=PartialObjectMetadata',
    });
    expect(answer).toMatchObject({ status: 201, headers: { 'x-extra': 'yes' }, body: { made: true } });
    const [request] = server.requests;
    expect(request?.url).toBe('/gateway/api/v1/namespaces/shop/pods/a?fieldManager=me+%26+you&force=true');
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer t',
      'content-type': 'application/merge-patch+json',
      accept: 'application/json;as=PartialObjectMetadata',
      'user-agent': 'boxwright',
    });
    expect(sent).toBe('{"a":"ü"}');
  });

  it('answers text that is no JSON as text, an empty body as undefined, and drops __proto__ members', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/text')
        response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found');
      else if (request.url === '/empty') response.writeHead(200).end();
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"a":{"__proto__":{"x":1},"b":2}}');
    });
    const port = portTo({ server: server.url });
    expect((await port.request({ method: 'GET', path: '/text' })).body).toBe('404 page not found');
    expect((await port.request({ method: 'GET', path: '/empty' })).body).toBeUndefined();
    const { body } = await port.request({ method: 'GET', path: '/proto' });
    expect(Object.keys((body as { a: object }).a)).toEqual(['b']);
  });

  it('tells of each exchange, with or without an answer', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/reset') request.socket.destroy();
      else json(response, 503, {});
    });
    const calls: PortCall[] = [];
    const port = portTo({ server: server.url }, { onCall: (call) => calls.push(call) });
    await port.request(get);
    await port.request({ method: 'DELETE', path: '/reset' }).catch(() => undefined);
    const host = new URL(server.url).host;
    expect(calls).toMatchObject([
      { method: 'GET', host, status: 503 },
      { method: 'DELETE', host, status: undefined },
    ]);
  });

  it('follows no redirect, so the token stays with the API server', async () => {
    const other = await serve(ok);
    const server = await serve((_request, response) => {
      response.writeHead(302, { location: `${other.url}/steal` }).end();
    });
    const port = portTo({ server: server.url, headers: { authorization: 'Bearer secret' } });
    expect((await port.request(get)).status).toBe(302);
    expect(other.requests).toHaveLength(0);
  });

  it('says that a refused connection, an unknown name or a foreign certificate sent nothing', async () => {
    const gone = await serve(ok);
    await gone[Symbol.asyncDispose]();
    const foreign = await serve(ok, authority.server(['127.0.0.1']));
    const misnamed = await serve(ok, authority.server(['elsewhere.example']));
    for (const access of [
      { server: gone.url },
      { server: 'https://no-such-host.invalid' },
      { server: foreign.url },
      { server: misnamed.url, tls: { ca: authority.cert } },
      { server: foreign.url.replace('https:', 'http:'), expectSent: true },
    ]) {
      const error: unknown = await portTo(access)
        .request(get)
        .catch((e: unknown) => e);
      expect(error).toBeInstanceOf(KubeTransportError);
      expect(error).toMatchObject({ code: 'KubeTransport', maybeSent: 'expectSent' in access });
    }
  });

  it('says that a request may have been sent when the connection broke or the answer stayed away', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/reset') request.socket.destroy();
      else if (request.url === '/half') {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"a":');
        setImmediate(() => request.socket.destroy());
      }
      // Anything else is a black hole.
    });
    const port = portTo({ server: server.url }, { deadlineMs: 200 });
    for (const path of ['/reset', '/half', '/hole']) {
      const error: unknown = await port.request({ method: 'POST', path, body: {} }).catch((e: unknown) => e);
      expect({ path, error }).toMatchObject({ error: { code: 'KubeTransport', maybeSent: true } });
    }
  });

  it('gives up an answer that drips longer than the deadline', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const timer = systemClockEvery(20, () => response.write(' '));
      response.on('close', timer);
    });
    const port = portTo({ server: server.url }, { deadlineMs: 300 });
    await expect(port.request(get)).rejects.toThrow(/no complete answer within 300 ms/);
  });

  it('reads no more of an answer than it may', async () => {
    const server = await serve((_request, response) => json(response, 200, { text: 'x'.repeat(5_000) }));
    const port = portTo({ server: server.url }, { maxAnswerBytes: 1_000 });
    await expect(port.request(get)).rejects.toBeInstanceOf(KubeAnswerTooLargeError);
  });

  it('ends with the reason of the signal, before and during a call', async () => {
    const server = await serve(() => undefined);
    const port = portTo({ server: server.url });
    const reason = new Error('shutting down');
    await expect(port.request({ ...get, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const call = port.request({ ...get, signal: controller.signal });
    await eventually('the request arrives', () => server.requests.length === 1, { everyMs: 5 });
    controller.abort(reason);
    await expect(call).rejects.toBe(reason);
  });
});

describe('UndiciKubePort with changing credentials', () => {
  it('answers a 401 with one more try under fresh credentials, however many calls meet it', async () => {
    let valid = 'Bearer old';
    let looks = 0;
    const server = await serve((request, response) => {
      const good = request.headers.authorization === valid;
      json(response, good ? 200 : 401, {});
    });
    const port = new UndiciKubePort({
      clock: systemClock,
      source: {
        access: async (fresh) => {
          looks++;
          return {
            server: server.url,
            headers: { authorization: fresh ? 'Bearer new' : 'Bearer old' },
            tls: {},
          };
        },
      },
    });
    cleanups.push(() => port.close());
    expect((await port.request(get)).status).toBe(200);
    valid = 'Bearer new';
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await port.request(get)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(looks).toBe(2);
    valid = 'Bearer revoked';
    expect((await port.request(get)).status).toBe(401);
    expect((await port.request(get)).status).toBe(401);
    expect(looks).toBe(2);
  });

  it('takes a new certificate on new connections and lets calls in flight end on the old', async () => {
    let user = 'first';
    let held: ServerResponse | undefined;
    const seen: string[] = [];
    const server = await serve(
      (request, response) => {
        const peer = (
          request.socket as unknown as { getPeerCertificate(): { subject: { CN: string } } }
        ).getPeerCertificate();
        seen.push(peer.subject.CN);
        if (request.url === '/slow') held = response;
        else json(response, peer.subject.CN === 'first' && user === 'second' ? 401 : 200, {});
      },
      { ...authority.server(['127.0.0.1']), ca: authority.cert, requestCert: true },
    );
    const certificates = { first: authority.client('first'), second: authority.client('second') };
    const port = new UndiciKubePort({
      clock: systemClock,
      source: {
        access: async () => ({
          server: server.url,
          headers: {},
          tls: { ca: authority.cert, ...certificates[user as 'first' | 'second'] },
        }),
      },
    });
    cleanups.push(() => port.close());
    const slow = port.request({ method: 'GET', path: '/slow' });
    await eventually('the slow call arrives', () => seen.length === 1, { everyMs: 5 });
    user = 'second';
    expect((await port.request(get)).status).toBe(200);
    expect(seen).toEqual(['first', 'first', 'second']);
    if (held !== undefined) json(held, 200, {});
    expect((await slow).status).toBe(200);
    await eventually('the old connections are closed', () => server.sockets.size === 1, { everyMs: 5 });
  });

  it('rejects as not sent when there are no credentials', async () => {
    const port = new UndiciKubePort({
      clock: systemClock,
      source: { access: () => Promise.reject(new Error('plugin exited with 1')) },
    });
    await expect(port.request(get)).rejects.toMatchObject({ code: 'KubeTransport', maybeSent: false });
  });
});

describe('UndiciKubePort.watch', () => {
  it('gives each watch a connection of its own and reads lines cut anywhere', async () => {
    const text = `${JSON.stringify({ type: 'ADDED', object: { metadata: { name: 'grün 🌳' } } })}\n`;
    const server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const bytes = Buffer.from(text + text);
      void (async () => {
        for (const byte of bytes) {
          response.write(Buffer.of(byte));
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
    });
    const port = portTo({ server: server.url });
    const [one, two] = await Promise.all([port.watch(get), port.watch(get)]);
    const lines = await take(one.events, 2);
    expect(lines[1]).toEqual({ type: 'ADDED', object: { metadata: { name: 'grün 🌳' } } });
    expect(server.connections).toBe(2);
    one.close();
    two.close();
    await eventually('both connections end', () => server.sockets.size === 0, { everyMs: 5 });
  });

  it('answers a refusal with its body and no events', async () => {
    const server = await serve((_request, response) =>
      json(response, 410, { kind: 'Status', reason: 'Expired' }),
    );
    const watch = await portTo({ server: server.url }).watch(get);
    expect(watch).toMatchObject({ status: 410, body: { reason: 'Expired' } });
    expect(await take(watch.events, 1)).toEqual([]);
  });

  it('throws when the connection breaks, ends quietly when closed from here or by the server', async () => {
    let how: 'break' | 'end' | 'hold' = 'break';
    const server = await serve((request, response) => {
      response.writeHead(200);
      response.write('{"type":"BOOKMARK","object":{}}\n');
      if (how === 'break') setImmediate(() => request.socket.destroy());
      if (how === 'end') response.end();
    });
    const port = portTo({ server: server.url });
    await expect(take((await port.watch(get)).events, 2)).rejects.toMatchObject({ code: 'KubeTransport' });
    how = 'end';
    expect(await take((await port.watch(get)).events, 2)).toHaveLength(1);
    how = 'hold';
    const watch = await port.watch(get);
    const reading = take(watch.events, 2);
    await eventually('the line arrives', () => server.requests.length === 3, { everyMs: 5 });
    watch.close();
    expect((await reading).length).toBeLessThanOrEqual(1);
  });

  it('ends with the reason of the signal', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200);
      response.write('{"type":"BOOKMARK","object":{}}\n');
    });
    const controller = new AbortController();
    const watch = await portTo({ server: server.url }).watch({ ...get, signal: controller.signal });
    const reason = new Error('stop');
    const reading = (async () => {
      for await (const line of watch.events) if (line.type === 'BOOKMARK') controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  it('refuses a line without end and a body that stops inside a line', async () => {
    const server = await serve((request, response) => {
      response.writeHead(200);
      response.end(request.url?.startsWith('/cut') === true ? '{"type":"ADD' : 'no json\n');
    });
    const port = portTo({ server: server.url });
    const cut = await port.watch({ method: 'GET', path: '/cut' });
    await expect(take(cut.events, 1)).rejects.toThrow(/ended inside a line/);
    const odd = await port.watch({ method: 'GET', path: '/odd' });
    await expect(take(odd.events, 1)).rejects.toThrow(/no watch event/);
  });
});

/** Calls `fn` every `ms`; answers what stops it. */
function systemClockEvery(ms: number, fn: () => void): () => void {
  let timer = systemClock.setTimer(ms, tick);
  function tick(): void {
    fn();
    timer = systemClock.setTimer(ms, tick);
  }
  return () => timer.cancel();
}
