import { SecretSet } from '../../base/masking/secret-set.ts';
import { describe, expect, it } from 'vitest';
import type { BoxVariable, NestedOverride } from '../../api/fields/variables.ts';
import type { VariableRecord } from '../../service/index.ts';
import { Digest } from '../digest.ts';
import type { HashedContent, OpenContent, SourceContent, SourceRef, Sources } from '../sources.ts';
import { textOf } from './test-file.ts';
import {
  combineVariable,
  hashOfVariables,
  isMasked,
  mergeVariables,
  readFile,
  resolveVariables,
  secretsAtRisk,
  variableDifferences,
  type DesiredVariable,
  type ResolveContext,
} from './variables.ts';

const digest = new Digest(Buffer.alloc(32, 1));

/** Sources that hold these contents, by `Kind/name/key`; notes the namespaces that are asked for. */
function contextWith(
  texts: Record<string, string | Uint8Array>,
  more: Partial<ResolveContext> = {},
): ResolveContext & { asked: string[] } {
  const asked: string[] = [];
  const read = (namespace: string, ref: SourceRef): Promise<SourceContent> => {
    asked.push(namespace);
    const text = texts[`${ref.kind}/${ref.name}/${ref.key}`];
    return Promise.resolve(
      text === undefined
        ? { kind: 'missing', message: `${ref.kind} "${ref.name}" does not exist` }
        : { kind: 'found', bytes: typeof text === 'string' ? Buffer.from(text) : text },
    );
  };
  const open = async (namespace: string, ref: SourceRef): Promise<OpenContent> => {
    const content = await read(namespace, ref);
    return content.kind === 'found' ? { ...content, release: () => undefined } : content;
  };
  const hashed: Sources['hashed'] = async (namespace, ref, hash): Promise<HashedContent> => {
    const content = await read(namespace, ref);
    if (content.kind === 'missing') return content;
    return { kind: 'found', hash: hash(content.bytes), size: content.bytes.byteLength };
  };
  const sources = { read, open, hashed } as unknown as Sources;
  const sum = { files: 0, secrets: 0 };
  const { signal } = new AbortController();
  const secrets = new SecretSet();
  const domain = { kind: 'Box', namespace: 'shop', name: 'web' };
  return { domain, sources, digest, secrets, signal, sum, asked, ...more };
}

function variable(name: string, type: string, more: object = {}): BoxVariable {
  return { name, type, required: false, visibility: 'Public', ...more } as BoxVariable;
}

async function resolved(variables: BoxVariable[], context = contextWith({})): Promise<DesiredVariable[]> {
  const outcome = await resolveVariables({ 'spec.variables': variables }, context);
  if (outcome.kind === 'waiting') throw new Error(outcome.verdict.message);
  return outcome.variables;
}

/** What 40 variables come to. */
const forty = (more: object, texts: Record<string, string>): Promise<unknown> =>
  resolveVariables(
    { 'spec.variables': Array.from({ length: 40 }, (_, i) => variable(`V${i}`, 'File', more)) },
    contextWith(texts),
  );
const boxId = (name: string): { kind: 'waiting'; message: string } => ({
  kind: 'waiting',
  message: `Box "${name}" is not in place yet`,
});
const hashOf = async (variables: BoxVariable[], texts: Record<string, string> = {}): Promise<string> =>
  hashOfVariables(await resolved(variables, contextWith(texts)));
const merge = (
  current: VariableRecord[],
  desired: VariableRecord[],
  managed: string[] = [],
): VariableRecord[] => mergeVariables({ current, desired, managed });
const differ = (current: VariableRecord[], merged: VariableRecord[]): string[] =>
  variableDifferences(current, merged).map(({ field, want, have }) => `${field}: ${want} / ${have}`);
const PASSWORD = variable('PASS', 'Password', {
  valueFrom: { secretKeyRef: { name: 'db', key: 'password' } },
});

describe('declared variables', () => {
  it('travel in the words of the service', async () => {
    const options = variable('SIZE', 'Options', {
      options: ['small', 'large'],
      value: 'small',
      required: true,
      visibility: 'Private',
    });
    const [wire] = (await resolved([options])).map((one) => one.wire);
    expect(wire).toEqual({
      name: 'SIZE',
      type: 'Options',
      required: true,
      visibility: 'private',
      options: 'small,large',
      value: 'small',
    });
  });

  it('of nested boxes travel beside the box’s own, with their scope and as mere values', async () => {
    const override: NestedOverride = { scope: 'runtime', name: 'A', type: 'Text', value: '2' };
    const lists = { 'spec.variables': [variable('A', 'Text')], 'spec.overrides': [override] };
    const outcome = await resolveVariables(lists, contextWith({}));
    const [main, nested] = outcome.kind === 'ready' ? outcome.variables : [];
    expect(main?.wire).not.toHaveProperty('scope');
    expect(nested).toMatchObject({ key: 'runtime:A' });
    expect(nested?.wire).toEqual({ scope: 'runtime', name: 'A', type: 'Text', value: '2' });
  });

  it('take secret values from the own namespace alone, and are known by a keyed hash', async () => {
    const context = contextWith({ 'Secret/db/password': 'hunter22' });
    const [password] = await resolved([PASSWORD], context);
    expect(password).toMatchObject({ secret: true, wire: { value: 'hunter22' } });
    expect(context.asked).toEqual(['shop']);
    expect(password?.hmac).toMatch(new RegExp(`^${digest.keyId}:`));
    expect(hashOfVariables([password as DesiredVariable])).not.toContain('hunter22');
  });

  // B4: replacement characters must not reach the service in place of a secret.
  it('take no bytes that are no text, and name Secret and key but never the bytes', async () => {
    const bytes = Uint8Array.of(0x70, 0xff, 0xfe, 0x71);
    const outcome = await resolveVariables(
      { 'spec.variables': [PASSWORD] },
      contextWith({ 'Secret/db/password': bytes }),
    );
    expect(outcome).toEqual({
      kind: 'waiting',
      verdict: {
        reason: 'NotSupported',
        message:
          'spec.variables: variable "PASS": key "password" of Secret "db" is not UTF-8 text, which a Password has ' +
          'to be: put text there, or make the variable a File',
      },
    });
    const file = variable('KEY', 'File', { file: { secretKeyRef: { name: 'db', key: 'password' } } });
    const [sent] = await resolved([file], contextWith({ 'Secret/db/password': bytes }));
    const content = await sent?.file?.open(new AbortController().signal);
    expect(content).toMatchObject({ kind: 'found', bytes });
  });

  // B12
  it('lose one line break at the end of a secret, which echo leaves; files keep theirs', async () => {
    for (const [stored, value] of [
      ['hunter22\n', 'hunter22'],
      ['hunter22\r\n', 'hunter22'],
      ['two\nlines\n\n', 'two\nlines\n'],
    ] as const) {
      const context = contextWith({ 'Secret/db/password': stored });
      const [password] = await resolved([PASSWORD], context);
      expect(password?.wire.value).toBe(value);
      const [same] = await resolved([PASSWORD], contextWith({ 'Secret/db/password': value }));
      expect(value.endsWith('\n') || password?.hmac === same?.hmac).toBe(true);
    }
    const file = variable('KEY', 'File', { file: { secretKeyRef: { name: 'db', key: 'password' } } });
    const [sent] = await resolved([file], contextWith({ 'Secret/db/password': 'text\n' }));
    expect(await textOf(sent?.file)).toBe('text\n');
  });

  // S3
  it('hold so much and no more, which is told', async () => {
    const large = { file: { configMapKeyRef: { name: 'web', key: 'x' } } };
    expect(await forty(large, { 'ConfigMap/web/x': 'x'.repeat(1_000_000) })).toMatchObject({
      verdict: { reason: 'NotSupported', message: expect.stringContaining('may hold 32 MiB') },
    });
    expect(await forty(large, { 'ConfigMap/web/x': 'x'.repeat(800_000) })).toMatchObject({ kind: 'ready' });
    const password = { ...PASSWORD, type: 'Password' };
    expect(await forty(password, { 'Secret/db/password': 'x'.repeat(70_000) })).toMatchObject({
      verdict: { reason: 'NotSupported', message: expect.stringContaining('more than 64 KiB') },
    });
    expect(await forty(password, { 'Secret/db/password': 'x'.repeat(30_000) })).toMatchObject({
      verdict: { reason: 'NotSupported', message: expect.stringContaining('256 KiB') },
    });
  });

  it('that lack something say which variable and what', async () => {
    const boxes = [variable('runtime', 'Box', { boxRef: { name: 'nginx' } })];
    expect(await resolveVariables({ 'spec.variables': [PASSWORD] }, contextWith({}))).toEqual({
      kind: 'waiting',
      verdict: {
        reason: 'WaitingForReference',
        message: 'spec.variables: variable "PASS": Secret "db" does not exist',
      },
    });
    const secret: NestedOverride = { ...PASSWORD, scope: 'a', type: 'Password' };
    expect(await resolveVariables({ 'spec.overrides': [secret] }, contextWith({}))).toMatchObject({
      verdict: { message: 'spec.overrides: variable "PASS": Secret "db" does not exist' },
    });
    expect(await resolveVariables({ 'spec.variables': boxes }, contextWith({}, { boxId }))).toMatchObject({
      verdict: { message: 'spec.variables: variable "runtime": Box "nginx" is not in place yet' },
    });
  });

  it('name nested boxes by reference or by id', async () => {
    const context = contextWith({}, { boxId: (name) => ({ kind: 'found', id: `id-of-${name}` }) });
    const both = [
      variable('a', 'Box', { boxRef: { name: 'nginx' } }),
      variable('b', 'Box', { boxId: 'xyz' }),
    ];
    expect((await resolved(both, context)).map(({ wire }) => wire.value)).toEqual(['id-of-nginx', 'xyz']);
  });

  it('of type File bring their content, whose value comes with the upload', async () => {
    const context = contextWith({ 'ConfigMap/web/web.conf': 'listen 80;' });
    const [file] = await resolved(
      [variable('CONF', 'File', { file: { configMapKeyRef: { name: 'web', key: 'web.conf' } } })],
      context,
    );
    expect(file).toMatchObject({
      hmac: file?.file?.hmac,
      file: { path: 'variables.CONF', fileName: 'CONF' },
    });
    expect(file?.wire).not.toHaveProperty('value');
  });
});

describe('the hash of variables', () => {
  it('is the same in any order, and another with any other value, secret or file', async () => {
    const [a, b] = [variable('A', 'Text', { value: '1' }), variable('B', 'Text', { value: '2' })];
    expect(await hashOf([a, b])).toBe(await hashOf([b, a]));
    expect(await hashOf([a])).not.toBe(await hashOf([{ ...a, value: '2' }]));
    const one = await hashOf([PASSWORD], { 'Secret/db/password': 'one' });
    expect(await hashOf([PASSWORD], { 'Secret/db/password': 'one' })).toBe(one);
    expect(await hashOf([PASSWORD], { 'Secret/db/password': 'two' })).not.toBe(one);
    const conf = (inline: string): BoxVariable => variable('CONF', 'File', { file: { inline } });
    expect(await hashOf([conf('x')])).not.toBe(await hashOf([conf('y')]));
  });
});

describe('the content of a file', () => {
  it('is inline, or from a ConfigMap or Secret, and sent as what it is said to be', async () => {
    const context = contextWith({ 'Secret/web/run.sh': 'echo secret', 'ConfigMap/web/run.sh': 'echo map' });
    const read = async (source: object, path: string): Promise<unknown> => {
      const contentType = path.startsWith('events.') ? 'text/x-shellscript' : 'application/octet-stream';
      const file = await readFile(source, path, { fileName: 'install', contentType }, context);
      return 'reason' in file ? file.message : [await textOf(file), file.contentType];
    };
    const ref = { name: 'web', key: 'run.sh' };
    expect(await read({ inline: 'echo here' }, 'events.install')).toEqual([
      'echo here',
      'text/x-shellscript',
    ]);
    expect(await read({ configMapKeyRef: ref }, 'variables.X')).toEqual([
      'echo map',
      'application/octet-stream',
    ]);
    expect(await read({ secretKeyRef: ref }, 'events.install')).toEqual([
      'echo secret',
      'text/x-shellscript',
    ]);
    expect(await read({ secretKeyRef: { name: 'gone', key: 'x' } }, 'events.install')).toBe(
      'Secret "gone" does not exist',
    );
  });
});

describe('variables put on a record', () => {
  it('leave alone what others put there, and take away what was ours', () => {
    const current = [
      { name: 'THEIRS', value: 'x' },
      { name: 'OURS', value: 'y' },
      { name: 'PORT', value: '80', note: 'kept' },
    ];
    expect(merge(current, [{ name: 'PORT', value: '90' }], ['OURS', 'PORT'])).toEqual([
      { name: 'THEIRS', value: 'x' },
      { name: 'PORT', value: '90', note: 'kept' },
    ]);
  });

  it('tell variables of one name by their scope', () => {
    const current = [
      { name: 'A', value: '1' },
      { name: 'A', scope: 'runtime', value: '2' },
    ];
    expect(merge(current, [{ name: 'A', value: '3' }], ['A'])).toEqual([
      { name: 'A', value: '3' },
      { name: 'A', scope: 'runtime', value: '2' },
    ]);
  });

  it('lose a value and a choice that are not declared any more', () => {
    const old = { name: 'A', type: 'Options', value: 'x', options: 'x,y', required: true };
    expect(combineVariable(old, { name: 'A', type: 'Text', required: false })).toEqual({
      name: 'A',
      type: 'Text',
      required: false,
    });
    // The value of an instance says nothing of what the box lets choose.
    expect(combineVariable(old, { name: 'A', type: 'Options', value: 'y' })).toMatchObject({
      options: 'x,y',
      value: 'y',
    });
  });

  it('never wipe a secret that only the service knows', () => {
    const merged = [
      { name: 'THEIRS', type: 'Password', value: '****' },
      { name: 'HIDDEN', type: 'Password', value: null },
      { name: 'KNOWN', type: 'Password', value: 'shown' },
      { name: 'OURS', type: 'Password', value: '****' },
      { name: 'TEXT', type: 'Text', value: '****' },
    ];
    expect(secretsAtRisk(merged, new Set(['OURS']))).toEqual(['THEIRS', 'HIDDEN']);
  });

  it('are masked where the service shows stars, bullets or nothing', () => {
    expect(['****', '••', undefined, null].map(isMasked)).toEqual([true, true, true, true]);
    expect(['', '*a*', 0].map(isMasked)).toEqual([false, false, false]);
  });
});

describe('differences between record and declaration', () => {
  it('name the variable, the field and both values', () => {
    expect(
      differ(
        [{ name: 'A', value: '1' }, { name: 'OLD' }],
        [
          { name: 'A', value: '2' },
          { name: 'B', scope: 's' },
        ],
      ),
    ).toEqual([
      'variables.A.value: 2 / 1',
      'variables.s:B: present / absent',
      'variables.OLD: absent / present',
    ]);
  });

  it('are none between a number and its text, nor between false and nothing', () => {
    expect(differ([{ name: 'A', value: 4 }], [{ name: 'A', value: '4', required: false }])).toEqual([]);
    const half = { name: 'A', type: 'Number', value: '0.50' };
    expect(differ([{ ...half, value: 0.5 }], [half])).toEqual([]);
    expect(differ([{ ...half, value: 0.6 }], [half])).toHaveLength(1);
    expect(
      differ([{ name: 'A', value: '4', required: true }], [{ name: 'A', value: '4', required: false }]),
    ).toEqual(['variables.A.required: false / true']);
  });

  it('show no secret', () => {
    const shown = differ(
      [{ name: 'P', type: 'Password', value: 'old-secret' }],
      [{ name: 'P', type: 'Password', value: 'new-secret' }],
    );
    expect(shown).toEqual(['variables.P.value: **** / ****']);
    expect(
      differ(
        [{ name: 'P', type: 'Password', value: '***' }],
        [{ name: 'P', type: 'Password', value: 'new-secret' }],
      ),
    ).toEqual([]);
  });

  // S2: the record's Password, declared as another type, showed its value; so did the reverse.
  it.each([
    ['Password', 'Text'],
    ['Text', 'Password'],
    ['Password', undefined],
    ['File', 'Text'],
    ['Text', 'File'],
    ['File', 'File'],
    ['Password', 'File'],
  ])(
    'show nothing of a variable that is a secret on either side: %s on the record, %s declared',
    (have, want) => {
      const shown = differ(
        [{ name: 'P', type: have, value: 'old-canary', options: 'old-canary,other', required: true }],
        [
          {
            name: 'P',
            ...(want === undefined ? {} : { type: want }),
            value: 'new-canary',
            options: 'new-canary',
            required: false,
          },
        ],
      );
      expect(shown).toContain('variables.P.value: **** / ****');
      expect(shown).toContain('variables.P.required: false / true');
      expect(shown.join()).not.toContain('canary');
    },
  );
});

function passwordOf(name: string): BoxVariable {
  return variable(name, 'Password', { valueFrom: { secretKeyRef: { name, key: 'key' } } });
}

it('learns every secret, though one of them is not there', async () => {
  const secrets = new SecretSet();
  const context = contextWith({ 'Secret/b/key': 'hunter22-b', 'Secret/d/key': 'hunter22-d' }, { secrets });
  const lists = {
    'spec.variables': [passwordOf('a'), passwordOf('b')],
    'spec.overrides': [passwordOf('c'), passwordOf('d')],
  };
  expect(await resolveVariables(lists, context)).toMatchObject({
    kind: 'waiting',
    verdict: { message: expect.stringContaining('spec.variables: variable "a"') as string },
  });
  expect(secrets.mask('hunter22-b hunter22-d')).toBe('**** ****');
});
