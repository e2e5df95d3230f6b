import { describe, expect, it } from 'vitest';
import { leaks } from '../../../../test/support/leaks.ts';
import type { BoxRecord, InstanceRecord } from '../../../service/index.ts';
import { drawAll, type Import } from './draw.ts';
import { Files } from './files.ts';
import { KnownValues } from './known-values.ts';
import { treeOf } from './tree.ts';

const BASE = 'http://service.test/schemas';
const SCRIPT = { schema: `${BASE}/boxes/script` };
const POLICY = {
  schema: `${BASE}/boxes/policy`,
  provider_id: 'p',
  profile: { schema: `${BASE}/test/profile` },
};
const ONLINE = { state: 'done', operation: { event: 'deploy' }, box: 'b', policy_box: { id: 'p' } };

/** A service whose files are all of these bytes. */
function files(bytes: Uint8Array, values: KnownValues): Files {
  const download = (): Promise<unknown> => Promise.resolve({ kind: 'found', record: bytes, startedAt: 0 });
  const client = { blobs: { download } } as unknown as ConstructorParameters<typeof Files>[0]['client'];
  return new Files({ client }, new AbortController().signal, values);
}

async function drawn(
  boxes: object[],
  instances: object[] = [],
  bytes: Uint8Array = Buffer.from('echo'),
): Promise<Import> {
  const records = {
    boxes: boxes as BoxRecord[],
    instances: instances as InstanceRecord[],
    others: [],
  };
  const values = new KnownValues();
  const frame = {
    files: files(bytes, values),
    values,
    schemaBase: BASE,
    connection: 'main',
    owner: undefined,
    present: {},
  };
  const imported = await drawAll(records, frame);
  // Whatever was drawn can be written down, and read.
  treeOf(imported, { namespace: 'shop', connection: 'main' });
  return imported;
}

const remarksOf = ({ resources }: Import): string[] => resources.flatMap(({ sketch }) => sketch.remarks);

describe('what no file may have', () => {
  const secret = 'pa55word-of-years';

  it('is left out wherever else it stands, and said without it', async () => {
    const password = { name: 'DB', type: 'Password', value: secret };
    const text = { name: 'URL', type: 'Text', value: `postgres://me:${encodeURIComponent(secret)}@db` };
    const imported = await drawn(
      [
        {
          id: 'a',
          ...SCRIPT,
          name: `web ${secret}`,
          description: Buffer.from(secret).toString('base64'),
          requirements: [secret, 'Linux'],
          variables: [password, text, { name: secret, type: 'Text' }, { name: 'PORT', type: 'Text' }],
          events: { install: { url: '/services/blobs/download/1/x' } },
          visibility: secret,
        },
        { id: 'p', ...POLICY, profile: { ...POLICY.profile, keypair: secret } },
        { id: 'b', schema: secret, name: secret },
      ],
      [{ id: 'i', ...ONLINE, name: 'web', tags: [secret, 'kept'] }],
      Buffer.from(`${'#'.repeat(20_000)}\nexport DB=${secret}\n`),
    );
    const tree = [...treeOf(imported, { namespace: 'shop', connection: 'main' })].flat().join('\n');
    expect(leaks({ tree, said: JSON.stringify(imported.leftOut) }, { secret })).toEqual([]);
    for (const kept of ['name: PORT', '- Linux', '- kept', 'name: DB']) expect(tree).toContain(kept);
    expect(remarksOf(imported)).toContainEqual(
      expect.stringMatching(/^spec\.variables: "URL" is not declared.*the value of a Password/) as string,
    );
    expect(imported.leftOut).toHaveLength(2);
  });

  it('is no word that stands anywhere', async () => {
    const variables = [
      { name: 'DB', type: 'Password', value: 'on' },
      { name: 'MODE', type: 'Text', value: 'on' },
    ];
    expect(remarksOf(await drawn([{ id: 'a', ...SCRIPT, variables }]))).toEqual([]);
  });
});

describe('what a service says is doubted', () => {
  it('where a record cannot be declared as a whole', async () => {
    const { resources, leftOut } = await drawn(
      [
        { id: 'a' },
        { id: 'b', schema: `${BASE}/boxes/mainframe`, name: 'x' },
        { id: 'c', ...POLICY, provider_id: undefined },
        {
          id: 'd',
          ...POLICY,
          profile: Object.fromEntries(Array.from({ length: 99 }, (_, n) => [`p${n}`, n])),
        },
        { id: 'e', ...SCRIPT, version: { box: 'd' } },
      ],
      [{ id: 'i', ...ONLINE, box: undefined }, { id: 'j', ...ONLINE, name: 'x'.repeat(31) }, { id: 'k' }],
    );
    expect(resources).toEqual([]);
    expect(leftOut).toHaveLength(8);
  });

  it('where a part of it is too long, too many, doubled, or no text', async () => {
    const imported = await drawn([
      {
        id: 'a',
        ...SCRIPT,
        name: 'half \ud800 a pair',
        description: 'x'.repeat(2_049),
        requirements: ['Linux', 'y'.repeat(129), 'Linux'],
        visibility: 'secret',
        variables: [
          ...Array.from({ length: 101 }, (_, n) => ({ name: `V${n}`, type: 'Text', value: n })),
          { name: 'V1', type: 'Text', value: 'twice' },
          { name: '__proto__', type: 'Text', value: 'x' },
          { name: 'LONG', type: 'Text', value: 'x'.repeat(4_097) },
          { name: 'PORT', type: 'Port', value: 'eighty' },
        ],
        events: { install: { url: '/x', destination_path: 'p'.repeat(513) }, explode: { url: '/x' } },
        members: [{ workspace: 'qa', role: 'king' }],
        icon: '/icons/default',
      },
    ]);
    const remarks = remarksOf(imported).join('\n');
    for (const part of [
      'spec.name is not declared',
      'spec.description is not declared',
      'spec.requirements: yyy',
      'spec.requirements: Linux',
      'visibility "secret"',
      '"V100"',
      '"V1"',
      '"__proto__"',
      '"LONG"',
      '"PORT"',
      'spec.events: install',
      'event "explode"',
      'spec.members: qa',
      'spec.icon',
    ])
      expect(remarks).toContain(part);
    const [only] = imported.resources;
    expect(only?.sketch.manifest()).toMatchObject({
      metadata: { name: 'half-a-pair' },
      spec: { requirements: ['Linux'], events: { install: { inline: 'echo' } } },
    });
  });

  it('where a file is larger than a ConfigMap can be', async () => {
    const box = { id: 'a', ...SCRIPT, name: 'web', events: { install: { url: '/x' } } };
    const imported = await drawn([box], [], new Uint8Array(2_000_000));
    expect(remarksOf(imported)).toEqual([
      expect.stringContaining('its 2000000 bytes do not fit a ConfigMap'),
    ]);
  });

  it('where files fill more than one ConfigMap', async () => {
    const events = Object.fromEntries(['install', 'start', 'stop'].map((event) => [event, { url: '/x' }]));
    const { resources } = await drawn(
      [{ id: 'a', ...SCRIPT, name: 'web', events }],
      [],
      new Uint8Array(600_000).fill(97),
    );
    expect(resources.flatMap(({ maps }) => maps.map(({ name }) => name))).toEqual([
      'box-web-files',
      'box-web-files-2',
      'box-web-files-3',
    ]);
  });
});
