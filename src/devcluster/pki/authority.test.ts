import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Authority } from './authority.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'boxwright-pki-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('an authority', () => {
  it('signs certificates that verify against its own', () => {
    const authority = Authority.open(dir, systemClock);
    const ca = new X509Certificate(authority.cert);
    const client = new X509Certificate(authority.client('jane', ['developers', 'on-call']).cert);
    expect(ca.ca).toBe(true);
    expect(ca.verify(ca.publicKey)).toBe(true);
    expect(client.ca).toBe(false);
    expect(client.verify(ca.publicKey)).toBe(true);
    expect(client.checkIssued(ca)).toBe(true);
    expect(client.subject.split('\n')).toEqual(['O=developers', 'O=on-call', 'CN=jane']);
  });

  it('names hosts and addresses in serving certificates', () => {
    const { cert } = Authority.open(dir, systemClock).server(['localhost', '127.0.0.1']);
    const server = new X509Certificate(cert);
    expect(server.checkHost('localhost')).toBe('localhost');
    expect(server.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(server.checkHost('example.org')).toBeUndefined();
  });

  it('is the same one when its folder is opened again', () => {
    const first = Authority.open(dir, systemClock);
    const again = Authority.open(dir, systemClock);
    const client = new X509Certificate(again.client('jane').cert);
    expect(client.verify(new X509Certificate(first.cert).publicKey)).toBe(true);
  });

  it.each([2026, 2045])('writes dates on both sides of 2050 (made in %d)', (year) => {
    const clock = new VirtualClock(Date.UTC(year, 0, 1));
    const { cert } = Authority.open(dir, clock).client('jane');
    const { validFromDate, validToDate } = new X509Certificate(cert);
    expect(validFromDate.getTime()).toBe(clock.now() - 3_600_000);
    expect(validToDate.getTime()).toBe(clock.now() + 3_650 * 86_400_000);
  });

  it('serves a TLS handshake in which both sides show their certificates', async () => {
    const authority = Authority.open(dir, systemClock);
    const server = createServer({
      ...authority.server(['localhost', '127.0.0.1']),
      ca: authority.cert,
      requestCert: true,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const accepted = once(server, 'secureConnection');
    const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, ...authority.client('jane') });
    await once(socket, 'secureConnect');
    const [peer] = (await accepted) as [TLSSocket];
    expect([socket.authorized, peer.authorized]).toEqual([true, true]);
    expect(peer.getPeerCertificate().subject.CN).toBe('jane');
    socket.destroy();
    peer.destroy();
    server.close();
  });
});
