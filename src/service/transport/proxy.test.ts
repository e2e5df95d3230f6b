import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { Server } from 'node:net';
import { inspect } from 'node:util';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { readProxySettings } from '../../base/proxy/settings.ts';
import { createCertificate } from '../../base/x509.ts';
import type { PortRequest } from '../port.ts';
import { rejectionOf } from '../scripted-port.ts';
import { listenOnLoopback } from '../../base/proxy/test-listen.ts';
import { startTestProxy, type TestProxy } from '../../base/proxy/test-proxy.ts';
import { createUndiciPort, type UndiciPortOptions } from './undici-port.ts';

/** No name that anybody could look up: what reaches the service has come through the proxy. */
const HOST = 'deploy.invalid';
const LOGIN = 'me:CANARY-password';
const CREDENTIALS = [LOGIN, 'CANARY', Buffer.from(LOGIN).toString('base64')];

const get: PortRequest = {
  method: 'GET',
  path: '/services/boxes',
  headers: { 'service-token': 'CANARY-token' },
  maxBytes: 1_000,
  timeoutMs: 5_000,
};

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

let certificate: { cert: string; key: string };
beforeAll(() => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const now = systemClock.now();
  certificate = {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: createCertificate({
      commonName: HOST,
      publicKey,
      issuer: { commonName: HOST, privateKey },
      hosts: [HOST],
      usage: 'server',
      notBefore: new Date(now - 3_600_000),
      notAfter: new Date(now + 3_600_000),
    }),
  };
});

/** Listens on loopback until the test ends; the port. */
async function listen(server: Server): Promise<number> {
  const { port, stop } = await listenOnLoopback(server);
  closers.push(stop);
  return port;
}

async function proxy(refuse?: number): Promise<TestProxy> {
  const started = await startTestProxy(refuse);
  closers.push(() => started.stop());
  return started;
}

/** A service that repeats its host header; the headers that reached it. */
async function service(secure: boolean): Promise<{ endpoint: string; port: number; seen: unknown[] }> {
  const seen: unknown[] = [];
  const answer = ({ headers }: IncomingMessage, response: ServerResponse): void => {
    seen.push(headers);
    response.end(JSON.stringify({ host: headers.host }));
  };
  const port = await listen(secure ? createSecureServer(certificate, answer) : createServer(answer));
  return { endpoint: `${secure ? 'https' : 'http'}://${HOST}:${port}`, port, seen };
}

function open(endpoint: string, env: Record<string, string>, options: Partial<UndiciPortOptions> = {}) {
  const port = createUndiciPort({
    endpoint,
    allowedHosts: ['*:*'],
    allowInsecure: true,
    ca: certificate.cert,
    clock: systemClock,
    proxies: readProxySettings(env),
    ...options,
  });
  closers.push(() => port.close());
  return port;
}

function variable(port: number): Record<string, string> {
  return {
    HTTPS_PROXY: `http://${LOGIN}@127.0.0.1:${port}`,
    HTTP_PROXY: `http://${LOGIN}@127.0.0.1:${port}`,
  };
}

const toLoopback: UndiciPortOptions['resolve'] = (_, done) =>
  done(null, [{ address: '127.0.0.1', family: 4 }]);

function expectNoSecrets(error: unknown): void {
  const printed = inspect(error, { depth: 9, showHidden: true }) + String((error as Error).stack);
  for (const secret of CREDENTIALS) expect(printed).not.toContain(secret);
}

describe('a call to an https endpoint', () => {
  it('goes through the proxy, which sees the host and nothing else', async () => {
    const [{ endpoint, port, seen }, through] = [await service(true), await proxy()];
    const calls = open(endpoint, variable(through.port), { connections: 1 });
    const answer = await calls.send(get);
    expect(JSON.parse(Buffer.from(answer.body).toString())).toEqual({ host: `${HOST}:${port}` });
    await calls.send(get);
    // One tunnel carries both calls.
    expect(through.asked).toEqual([
      {
        line: `CONNECT ${HOST}:${port}`,
        authorization: `Basic ${Buffer.from(LOGIN).toString('base64')}`,
        token: undefined,
      },
    ]);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toMatchObject({ 'service-token': 'CANARY-token' });
    expect(seen[0]).not.toHaveProperty('proxy-authorization');
  });

  it('still wants the certificate of the service itself', async () => {
    const [{ endpoint }, through] = [await service(true), await proxy()];
    const error = await rejectionOf(open(endpoint, variable(through.port), { ca: undefined }).send(get));
    expect(error).toMatchObject({ code: 'Tls', maybeSent: false });
  });

  it('goes around the proxy for a host in NO_PROXY, to checked addresses only', async () => {
    const [{ endpoint, seen }, through] = [await service(true), await proxy()];
    const env = { ...variable(through.port), NO_PROXY: HOST };
    await open(endpoint, env, { resolve: toLoopback, allowLoopback: true }).send(get);
    expect(seen).toHaveLength(1);
    expect(through.asked).toEqual([]);
    const error = await rejectionOf(open(endpoint, env, { resolve: toLoopback }).send(get));
    expect(error).toMatchObject({ code: 'NotAllowed' });
  });

  it.each([
    [
      407,
      /^the proxy 127\.0\.0\.1:\d+ asks for other credentials \(407\): put user and password into HTTPS_PROXY$/,
    ],
    [
      403,
      /does not let deploy\.invalid:443 through \(403\): have it allowed there, or list the host in NO_PROXY/,
    ],
    [502, /has no connection to deploy\.invalid:443 \(502\)/],
    [405, /does not know how to connect to deploy\.invalid:443 \(405\): look at HTTPS_PROXY/],
  ])('that the proxy refuses with %i says so, and was certainly not sent', async (status, message) => {
    const through = await proxy(status);
    const error = await rejectionOf(open(`https://${HOST}`, variable(through.port)).send(get));
    expect(error).toMatchObject({
      code: 'Refused',
      maybeSent: false,
      message: expect.stringMatching(message),
    });
    expectNoSecrets(error);
    expect(through.asked).toHaveLength(1);
  });

  it('says that the proxy is down', async () => {
    const { port } = await proxy();
    await closers.pop()?.();
    const error = await rejectionOf(open(`https://${HOST}`, variable(port)).send(get));
    expect(error).toMatchObject({
      code: 'Refused',
      maybeSent: false,
      message: `the proxy 127.0.0.1:${port} cannot be reached (ECONNREFUSED): look at it, and at HTTPS_PROXY`,
    });
    expectNoSecrets(error);
  });

  it('gives up a proxy that does not answer', async () => {
    const silent = createServer();
    silent.on('connect', () => undefined);
    const port = await listen(silent);
    const calls = open(`https://${HOST}`, variable(port), { connectTimeoutMs: 50 });
    expect(await rejectionOf(calls.send(get))).toMatchObject({
      code: 'Refused',
      message: expect.stringContaining('did not answer within 50 ms'),
    });
  });

  it('is refused before any proxy when its host is not allowed', async () => {
    const through = await proxy();
    const env = variable(through.port);
    expect(() => open(`https://${HOST}`, env, { allowedHosts: ['other'] })).toThrow(/not among the allowed/);
    expect(() => open('https://169.254.169.254', env)).toThrow(/metadata address/);
    expect(through.asked).toEqual([]);
  });
});

describe('a call to an http endpoint', () => {
  it('asks the proxy for the whole URL', async () => {
    const [{ endpoint, port, seen }, through] = [await service(false), await proxy()];
    const answer = await open(`${endpoint}/base`, variable(through.port)).send(get);
    expect(JSON.parse(Buffer.from(answer.body).toString())).toEqual({ host: `${HOST}:${port}` });
    expect(through.asked[0]?.line).toBe(`GET ${endpoint}/base/services/boxes`);
    expect(seen).toHaveLength(1);
  });

  it('tells a proxy that wants credentials from the service', async () => {
    const through = await proxy(407);
    const error = await rejectionOf(open(`http://${HOST}`, variable(through.port)).send(get));
    expect(error).toMatchObject({
      code: 'Refused',
      message: expect.stringContaining(
        'asks for other credentials (407): put user and password into HTTP_PROXY',
      ),
    });
    expectNoSecrets(error);
  });

  it('says that the proxy is down', async () => {
    const { port } = await proxy();
    await closers.pop()?.();
    const error = await rejectionOf(open(`http://${HOST}`, variable(port)).send(get));
    expect(error).toMatchObject({
      code: 'Refused',
      message: `the proxy 127.0.0.1:${port} cannot be reached (ECONNREFUSED): look at it, and at HTTP_PROXY`,
    });
  });
});
