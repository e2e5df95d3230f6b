import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get as getSecurely } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { request } from 'undici';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Authority, type Credentials } from '../../devcluster/index.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { Metrics } from '../observe/metrics.ts';
import { CertificateGuard } from './certificate-guard.ts';
import { certificateFiles, selfSigned } from './certificate.ts';
import { ALLOWED, type Guard } from './guard.ts';
import { MetricsServer, type SecureServing } from './metrics-server.ts';

const NOW = systemClock.now();
const DAY = 86_400_000;
const everybody: Guard = { judge: () => Promise.resolve(ALLOWED) };
const nobody: Guard = {
  judge: () =>
    Promise.resolve({
      kind: 'refused',
      status: 401,
      text: 'who are you',
      headers: { 'www-authenticate': 'Bearer' },
    }),
};

let dir = '';
let authority: Authority;
const servers: MetricsServer[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'boxwright-serving-'));
  authority = Authority.open(dir, systemClock);
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  rmSync(dir, { recursive: true });
});

interface Served {
  url: string;
  clock: VirtualClock;
  warnings: object[];
}

async function serve(secure?: SecureServing): Promise<Served> {
  const clock = new VirtualClock(NOW);
  const warnings: object[] = [];
  const logger = { ...silentLogger, warn: (fields: object) => void warnings.push(fields) };
  const metrics = new Metrics();
  metrics.reconcileErrors.inc({ controller: 'thing' });
  const server = new MetricsServer({
    port: 0,
    metrics,
    clock,
    logger,
    ...(secure === undefined ? {} : { secure }),
  });
  servers.push(server);
  return { url: await server.listen(), clock, warnings };
}

const file = (name: string): string => join(dir, name);
const pairFiles = (): SecureServing => ({
  certificate: certificateFiles(file('tls.crt'), file('tls.key')),
  guard: everybody,
});

function write({ cert, key }: Credentials): void {
  writeFileSync(file('tls.crt'), cert);
  writeFileSync(file('tls.key'), key);
}

/** One request over a connection of its own. */
async function get(url: string, options: ConnectionOptions): Promise<{ status: number; text: string }> {
  const [answer] = (await once(getSecurely(`${url}/metrics`, { ...options, agent: false }), 'response')) as [
    IncomingMessage,
  ];
  let text = '';
  for await (const piece of answer.setEncoding('utf8')) text += piece as string;
  return { status: answer.statusCode ?? 0, text };
}

/** Serial number of the certificate that is shown. */
async function shown(url: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { serialNumber } = socket.getPeerCertificate();
  socket.destroy();
  return serialNumber;
}

/** Lets in who shows a certificate of the authority. */
async function serveToClients(names: readonly string[] = []): Promise<{ url: string; clock: VirtualClock }> {
  writeFileSync(file('clients.crt'), authority.cert);
  const clock = new VirtualClock(NOW);
  const { url } = await serve({
    certificate: selfSigned(systemClock, ['127.0.0.1']),
    guard: new CertificateGuard(clock, names),
    clientCaFile: file('clients.crt'),
  });
  return { url, clock };
}

describe('MetricsServer in the open', () => {
  it('serves the metrics on loopback, and nothing else', async () => {
    const { url } = await serve();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    const answer = await request(`${url}/metrics`);
    expect(answer.statusCode).toBe(200);
    expect(await answer.body.text()).toContain('controller_runtime_reconcile_errors_total');
    expect((await request(`${url}/healthz`)).statusCode).toBe(404);
    expect((await request(`${url}/metrics`, { method: 'POST' })).statusCode).toBe(405);
  });
});

describe('MetricsServer over TLS', () => {
  it('shows a self-signed certificate of its own where there is no other, good for a year', async () => {
    const certificate = selfSigned(systemClock, ['localhost', '127.0.0.1']);
    const { cert } = await certificate.read();
    const { url } = await serve({ certificate, guard: everybody });
    const { status, text } = await get(url, { ca: cert });
    expect(status).toBe(200);
    expect(text).toContain('controller_runtime_reconcile_errors_total');
    await expect(get(url, {})).rejects.toThrow(/self.signed/);
  });

  it('makes another self-signed certificate before its end', async () => {
    const clock = new VirtualClock(NOW);
    const source = selfSigned(clock, ['localhost']);
    const first = await source.read();
    clock.jumpWall(200 * DAY);
    expect(await source.read()).toBe(first);
    clock.jumpWall(50 * DAY);
    expect((await source.read()).cert).not.toBe(first.cert);
  });

  it('gives nothing to whom the guard refuses, and says why', async () => {
    const certificate = selfSigned(systemClock, ['127.0.0.1']);
    const { cert } = await certificate.read();
    const { url } = await serve({ certificate, guard: nobody });
    expect(await get(url, { ca: cert })).toEqual({ status: 401, text: 'who are you\n' });
  });

  it('gives nothing when the guard fails', async () => {
    const certificate = selfSigned(systemClock, ['127.0.0.1']);
    const guard: Guard = { judge: () => Promise.reject(new Error('the guard is ill')) };
    const { url } = await serve({ certificate, guard });
    await expect(get(url, { rejectUnauthorized: false })).rejects.toThrow(/hang up/);
  });

  it('speaks TLS 1.2 and 1.3, with forward secrecy, and nothing older', async () => {
    const { url } = await serve({ certificate: selfSigned(systemClock, ['127.0.0.1']), guard: everybody });
    const trust = { rejectUnauthorized: false };
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const answer = await get(url, { ...trust, minVersion: version, maxVersion: version });
      expect(answer.status).toBe(200);
    }
    // Level 0 lets this side offer what is too weak for it otherwise.
    const weak = { ...trust, ciphers: 'DEFAULT:@SECLEVEL=0' };
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      await expect(get(url, { ...weak, minVersion: version, maxVersion: version })).rejects.toThrow(/alert/);
    }
    const cbc = { ciphers: 'ECDHE-ECDSA-AES128-SHA:AES128-SHA', maxVersion: 'TLSv1.2' } as const;
    await expect(get(url, { ...trust, ...cbc })).rejects.toThrow(/handshake failure/);
  });

  it('does not speak plain HTTP', async () => {
    const { url } = await serve({ certificate: selfSigned(systemClock, ['127.0.0.1']), guard: everybody });
    await expect(request(`${url.replace('https', 'http')}/metrics`)).rejects.toThrow(
      /other side closed|ECONNRESET/,
    );
  });
});

/** A condition that is tried after another 10 s each time: a look reads files, which takes real time. */
function afterLooks(clock: VirtualClock, holds: () => boolean | Promise<boolean>): () => Promise<boolean> {
  return async () => {
    await clock.advance(10_000);
    return holds();
  };
}

describe('the certificate files', () => {
  it('are read again when they have been exchanged, without a restart', async () => {
    write(authority.server(['127.0.0.1']));
    const { url, clock } = await serve(pairFiles());
    expect((await get(url, { ca: authority.cert })).status).toBe(200);
    const before = await shown(url);
    write(authority.server(['127.0.0.1', 'localhost']));
    const looked = afterLooks(clock, async () => (await shown(url)) !== before);
    await eventually('the new one is shown', looked, { everyMs: 5 });
    expect((await get(url, { ca: authority.cert })).status).toBe(200);
  });

  it('that do not belong together, or are none, leave the old ones in use, and are complained about once', async () => {
    write(authority.server(['127.0.0.1']));
    const { url, clock, warnings } = await serve(pairFiles());
    const before = await shown(url);
    writeFileSync(file('tls.key'), authority.server(['127.0.0.1']).key);
    const complaints = (count: number): (() => Promise<boolean>) =>
      afterLooks(clock, () => warnings.length >= count);
    await eventually('it is complained about', complaints(1), { everyMs: 5 });
    for (let look = 0; look < 3; look++) await clock.advance(10_000);
    writeFileSync(file('tls.crt'), 'no certificate');
    await eventually('it is complained about', complaints(2), { everyMs: 5 });
    expect(warnings).toEqual([
      { why: `${file('tls.key')} is not the key of the certificate in ${file('tls.crt')}` },
      { why: `what is in ${file('tls.crt')} cannot be read as PEM` },
    ]);
    expect(await shown(url)).toBe(before);
  });

  it.each([
    ['missing', () => undefined, 'cannot be read (ENOENT)'],
    ['no PEM', () => writeFileSync(file('tls.crt'), 'x'), 'cannot be read as PEM'],
    ['huge', () => writeFileSync(file('tls.crt'), 'x'.repeat(1024 * 1024 + 1)), 'at most 1048576 bytes'],
  ])('that are %s at the start end it with a reason that names the file', async (_, make, reason) => {
    writeFileSync(file('tls.key'), authority.server([]).key);
    make();
    await expect(serve(pairFiles())).rejects.toThrow(`${file('tls.crt')} `);
    await expect(serve(pairFiles())).rejects.toThrow(reason);
  });
});

describe('with an authority of clients', () => {
  const trust = { rejectUnauthorized: false };

  it('lets in who shows a certificate of it, and answers 401 to anybody else', async () => {
    const { url } = await serveToClients();
    expect((await get(url, { ...trust, ...authority.client('prometheus') })).status).toBe(200);
    expect((await get(url, trust)).status).toBe(401);
    const stranger = Authority.open(mkdtempSync(join(dir, 'other-')), systemClock).client('prometheus');
    expect((await get(url, { ...trust, ...stranger })).status).toBe(401);
    // Not a client's.
    expect((await get(url, { ...trust, ...authority.server(['prometheus']) })).status).toBe(401);
  });

  it('lets in named ones only, where names are given', async () => {
    const { url } = await serveToClients(['prometheus']);
    expect((await get(url, { ...trust, ...authority.client('prometheus') })).status).toBe(200);
    expect((await get(url, { ...trust, ...authority.client('prometheus.evil') })).status).toBe(403);
    expect((await get(url, { ...trust, ...authority.client('') })).status).toBe(403);
  });

  it('denies a certificate that has expired since its connection began', async () => {
    const { url, clock } = await serveToClients();
    clock.jumpWall(3_660 * DAY);
    expect((await get(url, { ...trust, ...authority.client('prometheus') })).status).toBe(401);
  });

  it('does not take an earlier session for a certificate', async () => {
    const { url } = await serveToClients();
    const port = Number(new URL(url).port);
    const sessions: Buffer[] = [];
    const socket = connect({ host: '127.0.0.1', port, ...trust });
    socket.on('session', (session: Buffer) => sessions.push(session));
    await once(socket, 'secureConnect');
    socket.end('GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    await once(socket.resume(), 'close');
    const last = sessions.at(-1) ?? socket.getSession();
    expect((await get(url, { ...trust, ...(last === undefined ? {} : { session: last }) })).status).toBe(401);
  });
});
