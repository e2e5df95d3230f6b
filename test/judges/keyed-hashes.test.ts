import { describe, expect, it } from 'vitest';
import { collect, countTelling, unkeyed, type Runs, type Schema } from './keyed-hashes.ts';

const KEYED: Readonly<Record<string, string>> = { 7: 'aaaaaaaa:', 9: 'bbbbbbbb:' };
/** Some hash of a text, as a fake: 32 characters that look like one. */
const hashOf = (text: string): string =>
  Buffer.from(text)
    .toString('hex')
    .replaceAll(/[0189]/g, 'z')
    .padEnd(32, 'q')
    .slice(0, 32);

const text = (more: object = {}): Schema => ({ type: 'string', ...more });
const STATUS: Schema = { properties: { draftHash: text(), phase: text({ enum: ['Online'] }) } };
const NOTES = {
  claim: { writtenBy: 'operator', on: 'Box', meaning: '' },
  adopt: { writtenBy: 'user', on: 'Box', meaning: '' },
  starts: { writtenBy: 'operator', on: 'the leader Lease', meaning: '' },
} as const;

/** What an operator writes of one Box, given its key and what the Box is made of. */
type Writes = (key: string, content: string) => { status: object; annotations?: object };

function runs(writes: Writes): Runs {
  const values = (key: number, content: string): Map<string, Set<string>> => {
    const out = new Map<string, Set<string>>();
    const { status, annotations = {} } = writes(KEYED[key] ?? '', content);
    const claim = { 'boxwright.dev/claim': 'one', ...annotations };
    collect(out, { kind: 'Box', metadata: { name: 'web', annotations: claim }, status });
    return out;
  };
  return { one: values(7, 'first'), others: [values(7, 'other')], otherKey: values(9, 'first') };
}

const KNOWN = { ofPublic: { 'status.tagsHash': 'tags' }, unseen: {} };
const said = (writes: Writes, status: Schema = STATUS, known: Partial<typeof KNOWN> = {}): string[] =>
  unkeyed(runs(writes), { ...KNOWN, ...known }, { Box: status }, NOTES);

/** As it should be. */
const right: Writes = (key, content) => ({ status: { draftHash: `${key}${hashOf(key + content)}` } });
const beside =
  (more: (key: string, content: string) => object, where: 'status' | 'annotations' = 'status'): Writes =>
  (key, content) => {
    const { status } = right(key, content);
    return where === 'status'
      ? { status: { ...status, ...more(key, content) } }
      : { status, annotations: more(key, content) };
  };

it('takes keyed hashes, and those of what is public', () => {
  expect(said(right)).toEqual([]);
  expect(said(beside(() => ({ tagsHash: hashOf('blue') })))).toEqual([]);
  expect(countTelling(runs(right))).toBe(1);
});

describe('objects to', () => {
  it.each([
    ['in status', 'status', { sourceHash: hashOf }, 'Box/web status.sourceHash'],
    ['in an annotation', 'annotations', { 'boxwright.dev/note': hashOf }, 'annotations.boxwright.dev/note'],
    [
      'deep in an annotation of JSON',
      'annotations',
      { 'boxwright.dev/note': (content: string) => JSON.stringify({ of: { files: [hashOf(content)] } }) },
      'boxwright.dev/note.of.files.[]',
    ],
    ['that looks like none', 'status', { size: (content: string) => content.length }, 'status.size'],
  ] as const)('a new hash %s that is made without the key', (_what, where, members, path) => {
    const more = (_key: string, content: string): object =>
      Object.fromEntries(Object.entries(members).map(([name, of]) => [name, of(`${content} ${content}`)]));
    const longer = beside((key, content) => more(key, content === 'first' ? content : 'another'), where);
    expect(said(longer)).toContainEqual(expect.stringContaining(`${path} tells of a secret`));
  });

  it('a hash without the key of what this run does not change', () => {
    expect(said(beside(() => ({ boxesHash: hashOf('the same') })))).toEqual([
      'Box/web status.boxesHash is a hash without the key',
    ]);
  });

  it.each([
    ['a field', { sourceHash: text() }, 'Box status.sourceHash'],
    ['a field by any name', { source: text({ description: 'Where it is from.' }) }, 'Box status.source'],
    ['a list of texts', { sources: { type: 'array', items: text() } }, 'Box status.sources.[]'],
    [
      'a field of the items of a list',
      { files: { type: 'array', items: { properties: { of: text() } } } },
      'Box status.files.[].of',
    ],
  ])('%s of the definition that no run has shown', (_what, properties, path) => {
    const status = { properties: { ...STATUS.properties, ...properties } };
    expect(said(right, status)).toEqual([`${path} is shown by no run`]);
    expect(said(right, status, { unseen: { [path.replace('Box ', '')]: 'no content' } })).toEqual([]);
  });

  it('an annotation of the table that no run has shown', () => {
    const notes = { ...NOTES, source: { writtenBy: 'operator', on: 'Box, Instance', meaning: '' } } as const;
    expect(unkeyed(runs(right), KNOWN, { Box: STATUS }, notes)).toEqual([
      'Box annotations.boxwright.dev/source is shown by no run',
    ]);
  });
});

it.each([
  ['a time', text({ format: 'date-time' })],
  ['a word of a list', text({ enum: ['a'] })],
  ['what a user has written', text({ token: true })],
  ['a number', { type: 'integer' }],
])('does not ask a run for %s', (_what, field) => {
  expect(said(right, { properties: { ...STATUS.properties, field } })).toEqual([]);
});
