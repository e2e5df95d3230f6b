import { describe, expect, it, test } from 'vitest';
import { tokenOf } from '../../../api/tokens.ts';
import { fitStatus, isShownOnly, notSupported } from './gate.ts';

const BEFORE = { observedGeneration: 1 };

function fitted(kind: string, fields: object): Record<string, unknown> {
  const { status, stop } = fitStatus<Record<string, unknown>>(kind, { ...BEFORE, ...fields }, BEFORE);
  expect(stop).toBeUndefined();
  return status;
}

describe('what only shows', () => {
  // B1
  it.each<[string, string, object, object]>([
    ['an empty request', 'Box', { lastHandledRequest: '' }, {}],
    ['an empty renewal', 'InstanceLease', { handledRenew: '' }, {}],
    ['a box that is nested twice', 'Box', { stack: ['a', 'b', 'b'] }, { stack: ['a', 'b'] }],
    [
      'an account without an address',
      'Connection',
      { account: { workspace: 'w', email: '' } },
      { account: { workspace: 'w' } },
    ],
    ['a provider without a name', 'PolicyBox', { provider: { name: '' } }, {}],
    [
      'two machines of one name',
      'Instance',
      { machines: [{ name: 'm', state: 'done' }, { name: 'm' }, { name: 'm' }] },
      { machines: [{ name: 'm', state: 'done' }, { name: 'm~2' }] },
    ],
    ['a machine without a name', 'Instance', { machines: [{ name: '', state: 'done' }] }, { machines: [] }],
    ['a phase of a newer version', 'Instance', { phase: 'Migrating' }, {}],
    ['a number where a word belongs', 'Instance', { state: 4 }, { state: '4' }],
  ])('is made to fit: %s', (_what, kind, fields, expected) => {
    expect(fitted(kind, fields)).toEqual({ ...BEFORE, ...expected });
  });

  it('is cut inside the limit, and never inside a character', () => {
    const { state } = fitted('Instance', { state: '😀'.repeat(100) });
    expect(state).toBe(`${'😀'.repeat(63)}…`);
    expect(fitted('Instance', { state: 'half \ud83d' })).toMatchObject({ state: 'half \ufffd' });
  });

  it('keeps apart what falls together when it is cut, in whatever order it comes', () => {
    const long = 'm'.repeat(300);
    const machines = [{ name: `${long}a` }, { name: `${long}b`, state: 'done' }, { name: `${long}c~2` }];
    const first = fitted('Instance', { machines });
    expect(first).toEqual(fitted('Instance', { machines: machines.toReversed() }));
    const names = (first['machines'] as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual([`${'m'.repeat(255)}…`, `${'m'.repeat(254)}~2`]);
  });

  it('says how many of a list are left out', () => {
    const machines = Array.from({ length: 60 }, (_, at) => ({ name: `m${at}` }));
    expect((fitted('Instance', { machines })['machines'] as object[]).slice(48)).toEqual([
      { name: 'm48' },
      { name: '… and 11 more' },
    ]);
    const stack = Array.from({ length: 101 }, (_, at) => `box-${at}`);
    expect((fitted('Box', { stack })['stack'] as string[]).at(-1)).toBe('… and 2 more');
  });
});

describe('what decides', () => {
  it.each<[string, object, string]>([
    ['Box', { id: 'x'.repeat(65) }, 'status.id has 65 characters, and 64 fit'],
    [
      'Box',
      { home: { endpoint: 'https://a', owner: 'o'.repeat(65) } },
      'status.home.owner has 65 characters',
    ],
    ['Box', { home: { endpoint: 'https://a', owner: '' } }, 'status.home.owner is missing'],
    [
      'Box',
      { managed: { variables: Array.from({ length: 401 }, (_, at) => `V${at}`) } },
      'status.managed.variables has 401 entries, and 400 fit',
    ],
    ['Instance', { appliedHash: 'half \ud83d' }, 'status.appliedHash holds half a character'],
    ['Instance', { releasedExpire: '+010000-01-01T00:00:00Z' }, 'status.releasedExpire is not a time'],
  ])('is never cut, and stops what it was to precede (%s %o)', (kind, fields, words) => {
    expect(notSupported(kind, fields)).toMatchObject({
      reason: 'NotSupported',
      message: expect.stringContaining(words) as string,
    });
    const { status, stop } = fitStatus<object>(kind, { ...BEFORE, ...fields }, BEFORE);
    expect(status).toEqual(BEFORE);
    expect(stop?.message).toContain(words);
  });

  it('stays as it was noted before', () => {
    const before = { ...BEFORE, id: 'known' };
    const { status } = fitStatus<object>('Box', { ...before, id: 'x'.repeat(100), uri: '/a' }, before);
    expect(status).toEqual({ ...before, uri: '/a' });
  });

  it('stays as a newer version has written it, which stops nothing by itself', () => {
    const before = { ...BEFORE, lastOperation: { event: 'deploy', outcome: 'Skipped' } };
    const next = { ...before, state: 'done' };
    expect(fitStatus<object>('Instance', next, before)).toEqual({ status: next, stop: undefined });
  });

  it('fits where all variables and overrides are renamed at once', () => {
    const variables = Array.from({ length: 400 }, (_, at) => `runtime:V${at}`);
    expect(notSupported('Instance', { managed: { variables } })).toBeUndefined();
  });

  it('is whatever is not marked as shown', () => {
    expect(isShownOnly('Instance', 'machines[3].state')).toBe(true);
    expect(isShownOnly('Instance', 'machines.[].state')).toBe(true);
    expect(isShownOnly('Instance', 'lastOperation.message')).toBe(true);
    expect(isShownOnly('Instance', 'lastOperation.outcome')).toBe(false);
    expect(isShownOnly('Box', 'files.[].hmac')).toBe(false);
    expect(isShownOnly('Box', 'noSuchField')).toBe(false);
  });
});

// R6: one length for all who keep a token or compare it.
test('a token that is too long is kept as its hash, the same for whoever compares it', () => {
  for (const token of ['a'.repeat(256), 'a'.repeat(257), 'a'.repeat(5_000), '😀'.repeat(200)]) {
    const kept = tokenOf(token);
    const fields = {
      handledRequests: { reinstall: token },
      currentOperation: {
        event: 'reconfigure',
        token: `reconfigure:${kept}`,
        startedAt: '2026-01-01T00:00:00Z',
        deadline: '2026-01-01T00:00:00Z',
        try: 1,
      },
    };
    expect(fitted('Instance', fields)).toMatchObject({
      handledRequests: { reinstall: kept },
      currentOperation: { token: `reconfigure:${kept}` },
    });
  }
  expect(tokenOf('a'.repeat(257))).toMatch(/^sha256:[a-z2-7]{52}$/);
  expect(tokenOf('a'.repeat(257))).not.toBe(tokenOf('a'.repeat(258)));
  expect([tokenOf(''), tokenOf(undefined)]).toEqual([undefined, undefined]);
});

describe('a list that only shows', () => {
  const machines = Array.from({ length: 12_000 }, (_, i) => ({ name: `m${i % 11_000}`, state: 'done' }));

  it('is searched for secrets as far as it may come to show', () => {
    let searched = 0;
    const mask = (text: string): string => {
      searched += 1;
      return text;
    };
    const { status } = fitStatus<Record<string, unknown>>('Instance', { ...BEFORE, machines }, BEFORE, mask);
    expect(status['machines']).toHaveLength(50);
    expect(searched).toBeLessThan(1_000);
  });

  it('says how many are left out, with those that nobody looked at', () => {
    const stack = Array.from({ length: 5_000 }, (_, i) => `box-${i}`);
    const shown = fitted('Box', { stack })['stack'] as string[];
    expect([shown.length, shown.at(-1)]).toEqual([100, '… and 4901 more']);
  });
});
