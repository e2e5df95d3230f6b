import { describe, expect, it } from 'vitest';
import {
  credentialsRefusal,
  readSecretSelector,
  secretRefusal,
  SecretSelectorError,
} from './secret-policy.ts';

const none = new Map<string, string | undefined>();
const labelled = (labels: Record<string, string>): Parameters<typeof secretRefusal>[0] => ({
  metadata: { labels },
});

describe('a Secret', () => {
  it.each(['kubernetes.io/service-account-token', 'bootstrap.kubernetes.io/token', 'helm.sh/release.v1'])(
    'of type %s is never read',
    (type) => {
      expect(secretRefusal({ type, metadata: {} }, none)).toContain(`has the type ${type}`);
      expect(credentialsRefusal({ type })).toContain(`has the type ${type}`);
    },
  );

  it.each([undefined, 'Opaque', 'kubernetes.io/basic-auth', 'boxwright.dev/credentials'])(
    'of type %s may be a login',
    (type) => {
      expect(credentialsRefusal({ type })).toBeUndefined();
      expect(secretRefusal({ type, metadata: {} }, none)).toBeUndefined();
    },
  );

  it.each([
    'kubernetes.io/tls',
    'kubernetes.io/dockerconfigjson',
    'kubernetes.io/ssh-auth',
    'example.com/other',
  ])('of type %s may be content, and no login', (type) => {
    expect(secretRefusal({ type, metadata: {} }, none)).toBeUndefined();
    expect(credentialsRefusal({ type })).toContain('is not for credentials');
  });

  it('needs every label of the selector', () => {
    const selector = readSecretSelector('boxwright.dev/use=true, team');
    expect(secretRefusal(labelled({ 'boxwright.dev/use': 'true', team: '' }), selector)).toBeUndefined();
    expect(secretRefusal({ metadata: {} }, selector)).toContain(
      'does not have the label boxwright.dev/use=true',
    );
    expect(secretRefusal(labelled({ 'boxwright.dev/use': 'false', team: 'a' }), selector)).toContain(
      'use=true',
    );
    expect(secretRefusal(labelled({ 'boxwright.dev/use': 'true' }), selector)).toContain(
      'does not have the label team',
    );
    expect(secretRefusal(labelled({}), readSecretSelector('constructor'))).toContain('does not have');
  });
});

describe('a selector', () => {
  it.each([
    ['a', [['a', undefined]]],
    ['a=b', [['a', 'b']]],
    [
      'a==b,c=',
      [
        ['a', 'b'],
        ['c', ''],
      ],
    ],
    ['example.com/a-b.c_d=E.f', [['example.com/a-b.c_d', 'E.f']]],
  ])('%s is read', (text, entries) => {
    expect([...readSecretSelector(text)]).toEqual(entries);
  });

  it.each([
    '',
    ' ',
    ',',
    'a,',
    '!a',
    'a!=b',
    'a in (b)',
    'a notin (b)',
    'a=b c',
    '-a',
    'A.com/b/c',
    'a=b=c',
    '*',
  ])('%j is refused', (text) => {
    expect(() => readSecretSelector(text)).toThrow(SecretSelectorError);
  });
});
