import { describe, expect, it } from 'vitest';
import { UsageError } from '../exit-codes.ts';
import { OPERATOR_FLAGS, type OperatorFlags } from './flags.ts';
import { servingOf } from './serving-flags.ts';

const DEFAULTS = Object.fromEntries(
  Object.entries(OPERATOR_FLAGS).map(([name, row]) => [name, 'default' in row ? row.default : undefined]),
) as unknown as OperatorFlags;

function serving(flags: Partial<OperatorFlags>): object {
  return servingOf({ ...DEFAULTS, ...flags });
}

describe('where health and metrics are served', () => {
  it('is one address on loopback by default, in the open', () => {
    expect(serving({})).toEqual({ health: { host: '127.0.0.1', port: 8080, metrics: true } });
  });

  it('is nowhere when it is off, or health alone when that has an address', () => {
    expect(serving({ metricsAddress: 'off' })).toEqual({});
    expect(serving({ metricsAddress: 'off', healthAddress: ':8081' })).toEqual({
      health: { host: '0.0.0.0', port: 8081, metrics: false },
    });
  });

  it('is two addresses when two are given, and one when they are the same', () => {
    expect(serving({ healthAddress: '127.0.0.1:8081' })).toEqual({
      health: { host: '127.0.0.1', port: 8081, metrics: false },
      metrics: { host: '127.0.0.1', port: 8080 },
    });
    expect(serving({ healthAddress: '127.0.0.1:8080' })).toEqual(serving({}));
    expect(serving({ healthAddress: 'off' })).toEqual({ metrics: { host: '127.0.0.1', port: 8080 } });
  });

  it('is two addresses when metrics are secure: health needs no token', () => {
    expect(serving({ metricsSecure: true, metricsAddress: '[::]:8443' })).toEqual({
      health: { host: '127.0.0.1', port: 8081, metrics: false },
      metrics: { host: '::', port: 8443, secure: {} },
    });
  });

  it('takes the certificate from a folder, under the names that cert-manager gives', () => {
    expect(
      serving({ metricsSecure: true, metricsCertPath: '/tls', metricsClientCa: '/ca.crt' }),
    ).toMatchObject({
      metrics: {
        secure: {
          certificate: { certFile: '/tls/tls.crt', keyFile: '/tls/tls.key' },
          clients: { caFile: '/ca.crt', names: [] },
        },
      },
    });
  });

  it.each([
    [
      'one address for both',
      { metricsSecure: true, healthAddress: '127.0.0.1:8080' },
      '--health-address 127.0.0.1:8080',
    ],
    ['a certificate without TLS', { metricsCertPath: '/tls' }, '--metrics-cert-path'],
    ['an authority without TLS', { metricsClientCa: '/ca.crt' }, '--metrics-client-ca'],
    [
      'names without an authority',
      { metricsSecure: true, metricsClientNames: ['a'] },
      '--metrics-client-names',
    ],
    ['an address that is none', { healthAddress: '8081' }, '--health-address 8081: write host:port'],
  ])('is refused with %s', (_, flags: Partial<OperatorFlags>, message) => {
    expect(() => serving(flags)).toThrow(UsageError);
    expect(() => serving(flags)).toThrow(message);
  });
});
