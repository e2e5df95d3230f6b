import { beforeEach, describe, expect, it } from 'vitest';
import { declaredOf, type History } from './declared.ts';
import type { Court, StoredRecord } from './judge.ts';
import { stored } from './trial.ts';

const BLOBS: Readonly<Record<string, string>> = { '/blobs/1': 'keepalive 65', '/blobs/2': 'keepalive 66' };
const COURT = {
  resource: (plural: string, key: string) =>
    plural === 'boxes' && key === 'shop/web' ? stored({ status: { id: 'b-1' } }) : undefined,
  blob: (url: string) => BLOBS[url],
} as unknown as Court;

let secrets: Record<string, string[]>;
beforeEach(() => void (secrets = { 'shop/db password': ['old', 'new'] }));
const history: History = (_kind, key, item) => new Set(secrets[`${key} ${item}`]);

/** What is declared and not held, in words. */
function lacks(
  plural: string,
  spec: Record<string, unknown>,
  record: Partial<Record<string, unknown>>,
  status?: object,
): string[] {
  const resource = stored({ spec, ...(status === undefined ? {} : { status }) });
  const held = { id: 'r-1', name: 'web', variables: [], tags: [], ...record } as StoredRecord;
  return declaredOf(plural, resource, held, COURT, history).flatMap(({ what, holds }) =>
    holds ? [] : [what],
  );
}

const variable = (value: unknown, type = 'Text'): object => ({ variables: [{ name: 'V', type, value }] });
const OF_SECRET = { valueFrom: { secretKeyRef: { name: 'db', key: 'password' } } };
const OF_MAP = { configMapKeyRef: { name: 'db', key: 'password' } };
const INLINE = { file: { inline: 'keepalive 65' } };

describe('a variable', () => {
  it.each([
    ['a value', { value: '80' }, variable('80'), variable('81')],
    ['a number', { value: 80 }, variable('80'), variable('8')],
    ['an empty value', { value: '' }, variable(''), variable('0')],
    ['a box', { type: 'Box', boxRef: { name: 'web' } }, variable('b-1', 'Box'), variable('b-2', 'Box')],
    ['a box by id', { type: 'Box', boxId: 'b-7' }, variable('b-7', 'Box'), variable('b-1', 'Box')],
    [
      'a Secret',
      { type: 'Password', ...OF_SECRET },
      variable('new', 'Password'),
      variable('none', 'Password'),
    ],
    ['a file', { type: 'File', ...INLINE }, variable('/blobs/1', 'File'), variable('/blobs/2', 'File')],
  ])('of %s is held where the record has it, and not with another value', (_what, declared, same, other) => {
    const spec = { variables: [{ name: 'V', ...declared }] };
    expect(lacks('instances', spec, same)).toEqual([]);
    expect(lacks('instances', spec, other)).toEqual([expect.stringContaining('variable V is')]);
    expect(lacks('instances', spec, {})).toEqual(['variable V is missing']);
  });

  it('of a Secret is held with any value that it has had, line breaks at the end aside, and not judged before one is known', () => {
    const spec = { variables: [{ name: 'V', type: 'Password', ...OF_SECRET }] };
    expect(lacks('instances', spec, variable('old\n', 'Password'))).toEqual([]);
    secrets = {};
    expect(lacks('instances', spec, variable('whatever', 'Password'))).toEqual([]);
  });

  it('of a file in a ConfigMap is held with the content that it has had', () => {
    secrets['shop/db password'] = ['keepalive 66'];
    const spec = { variables: [{ name: 'V', type: 'File', file: OF_MAP }] };
    expect(lacks('boxes', spec, variable('/blobs/2', 'File'))).toEqual([]);
    expect(lacks('boxes', spec, variable('/blobs/1', 'File'))).toHaveLength(1);
  });

  it('is looked for in its own scope, overrides as well', () => {
    const spec = { overrides: [{ name: 'V', scope: 'db', value: '80' }] };
    const inScope = { variables: [{ name: 'V', scope: 'db', type: 'Text', value: '80' }] };
    expect(lacks('instances', spec, inScope)).toEqual([]);
    expect(lacks('instances', spec, variable('80'))).toEqual(['variable db.V is missing']);
  });
});

describe('an instance', () => {
  it.each([
    ['tags', { tags: ['blue'] }, { tags: ['blue', 'more'] }, { tags: ['red'] }],
    ['boxRef', { boxRef: { name: 'web' } }, { box: 'b-1' }, { box: 'b-2' }],
    [
      'lease',
      { lease: { operation: 'Shutdown', expireAt: '2027-01-01T08:00:00Z' } },
      { lease: { operation: 'shutdown', expire: '2027-01-01 08:00:30', released: false } },
      { lease: { operation: 'shutdown', expire: '2027-01-01 09:00:00', released: false } },
    ],
    [
      'power',
      { powerState: 'Stopped' },
      { operation: { event: 'shutdown' } },
      { operation: { event: 'powerOn' } },
    ],
    [
      'power',
      { powerState: 'Running' },
      { operation: { event: 'deploy' } },
      { operation: { event: 'shutdown_service' } },
    ],
  ])('has its %s, and lacks it with another value', (_what, spec, same, other) => {
    expect(lacks('instances', spec, same)).toEqual([]);
    expect(lacks('instances', spec, other)).toHaveLength(1);
  });

  it('owes no lease and no power to the record once its lease has ended, or where the operator carries it out', () => {
    const spec = { powerState: 'Running', lease: { operation: 'Shutdown' } };
    const off = { operation: { event: 'shutdown' } };
    expect(lacks('instances', spec, { ...off, lease: { operation: 'shutdown', released: true } })).toEqual(
      [],
    );
    expect(lacks('instances', spec, off, { lease: { by: 'Operator' } })).toEqual([]);
    expect(lacks('instances', spec, off)).toHaveLength(2);
  });

  it('keeps the name that it was deployed with, and others bear theirs', () => {
    expect(lacks('instances', {}, { name: 'other' })).toEqual([]);
    expect(lacks('boxes', {}, { name: 'other' })).toEqual(['name other']);
    expect(lacks('boxes', { name: 'other' }, { name: 'other' })).toEqual([]);
  });
});

it.each([
  ['description', { description: 'one' }, { description: 'one' }, { description: 'two' }],
  ['requirements', { requirements: ['a'] }, { fields: { requirements: ['a', 'b'] } }, { fields: {} }],
  ['claims', { claims: ['a'] }, { fields: { claims: ['a'] } }, { fields: { claims: ['b'] } }],
  [
    'events',
    { events: { install: { inline: 'keepalive 65' } } },
    { fields: { events: { install: { url: '/blobs/1' } } } },
    { fields: { events: { install: { url: '/blobs/2' } } } },
  ],
  [
    'profile',
    { profile: { properties: { instances: 1, subnet: null, tags: {} } } },
    { fields: { profile: { instances: '1' } } },
    { fields: { profile: { instances: 2 } } },
  ],
])('a box has its %s, and lacks it with another value', (_what, spec, same, other) => {
  expect(lacks('policyboxes', spec, same)).toEqual([]);
  expect(lacks('policyboxes', spec, other)).toHaveLength(1);
});
