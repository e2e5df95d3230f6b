import { describe, expect, it } from 'vitest';
import { WIDGETS } from '../../test/support/widgets.ts';
import { apiVersionOf, keyOf, keyOfObject, pathOf, refOf } from './object.ts';
import { NAMESPACES, SECRETS } from './types.ts';
import { compareVersions, isOlder } from './cache/version.ts';

describe('pathOf', () => {
  it('builds paths of core and grouped kinds', () => {
    expect(pathOf(SECRETS, { namespace: 'shop', name: 'db' })).toBe('/api/v1/namespaces/shop/secrets/db');
    expect(pathOf(SECRETS)).toBe('/api/v1/secrets');
    expect(pathOf(WIDGETS, { namespace: 'shop' })).toBe('/apis/test.example/v1/namespaces/shop/widgets');
    expect(pathOf(WIDGETS, { namespace: 'shop', name: 'a', subresource: 'status' })).toBe(
      '/apis/test.example/v1/namespaces/shop/widgets/a/status',
    );
    expect(pathOf(NAMESPACES, { name: 'shop' })).toBe('/api/v1/namespaces/shop');
  });

  it('encodes what a name may hold', () => {
    expect(pathOf(NAMESPACES, { name: 'system:a b?c' })).toBe('/api/v1/namespaces/system%3Aa%20b%3Fc');
  });

  it.each([
    ['an empty name', { namespace: 'shop', name: '' }],
    ['an empty namespace', { namespace: '', name: 'a' }],
    ['a way out', { namespace: 'shop', name: '..' }],
    ['a slash', { namespace: 'shop', name: 'a/status' }],
    ['an encoded slash', { namespace: 'shop', name: 'a%2Fstatus' }],
    ['no namespace', { name: 'a' }],
    ['a subresource of nothing', { namespace: 'shop', subresource: 'status' }],
  ])('refuses %s', (_what, parts) => {
    expect(() => pathOf(WIDGETS, parts)).toThrow(expect.objectContaining({ code: 'InvalidPath' }) as Error);
  });

  it('refuses a namespace for a kind that has none', () => {
    expect(() => pathOf(NAMESPACES, { namespace: 'shop', name: 'a' })).toThrow(/has no namespace/);
  });
});

describe('keys', () => {
  it('go there and back', () => {
    for (const ref of [{ namespace: 'shop', name: 'a' }, { name: 'cluster-wide' }]) {
      expect(refOf(keyOf(ref))).toEqual(ref);
    }
    expect(keyOfObject({ metadata: { namespace: 'shop', name: 'a' } })).toBe('shop/a');
    expect(apiVersionOf(SECRETS)).toBe('v1');
    expect(apiVersionOf(WIDGETS)).toBe('test.example/v1');
  });
});

describe('versions', () => {
  it('compare as whole numbers of any length', () => {
    expect(isOlder('9', '10')).toBe(true);
    expect(isOlder('10', '9')).toBe(false);
    expect(isOlder('99999999999999999998', '99999999999999999999')).toBe(true);
    expect(compareVersions('7', '7')).toBe(0);
  });

  it('of which one is no number are neither older nor newer', () => {
    expect(compareVersions('opaque', '5')).toBeUndefined();
    expect(compareVersions('007', '5')).toBeUndefined();
    expect(isOlder(undefined, '5')).toBe(false);
  });
});
