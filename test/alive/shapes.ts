import { gzipSync } from 'node:zlib';
import type { KubeObject } from '../../src/kube/index.ts';
import { pour, type Malice } from './service.ts';
import { box, ours, type AliveWorld } from './world.ts';

/** Something that an author or a service does to the operator. */
export interface Shape {
  name: string;
  what: string;
  /** How long it is watched, seconds. */
  seconds: number;
  /** What is there when the operator starts. */
  prepare(world: AliveWorld): Promise<void>;
  /** What happens while it runs. */
  meanwhile?(world: AliveWorld): Promise<void>;
}

export const MB = 1_000_000;
/** The list of boxes, which every Box is looked for in. */
export const isList = (path: string): boolean =>
  path.endsWith('/boxes') && path.startsWith('/services/workspaces/');
export const isRecord = (method: string, path: string): boolean =>
  method === 'GET' && path.startsWith('/services/boxes/') && path.split('/').length === 4;

/** A few Boxes over a service that answers so. */
export function answers(
  name: string,
  what: string,
  malice: Malice,
  { seconds = 45, boxes = 20 } = {},
): Shape {
  return {
    name,
    what,
    seconds,
    async prepare(world) {
      world.service.malice = malice;
      await world.connection('main', FAST);
      await world.make(many(boxes, (i) => box(`box-${i}`)));
    },
  };
}

export const FAST = { pace: { requestsPerSecond: 200, burst: 200, inFlight: 32 } };

export function* many(count: number, make: (index: number) => KubeObject): Generator<KubeObject> {
  for (let i = 0; i < count; i++) yield make(i);
}

function script(i: number, j: number): object {
  return { inline: `${i} ${j} `.padEnd(60_000, 'x') };
}

function secretFile(i: number): object {
  return { name: `S${i}`, type: 'File', file: { secretKeyRef: { name: `s-${i}`, key: 'x' } } };
}

function fileVariable(name: string, index: number): object {
  return { name: `F${index}`, type: 'File', file: { configMapKeyRef: { name, key: 'x' } } };
}

function configMap(index: number, bytes: number): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `content-${index}` },
    data: { x: `${index} `.padEnd(bytes, 'x') },
  } as unknown as KubeObject;
}

/** Boxes that each refer to so many ConfigMaps of 1 MB. */
function contents(name: string, boxes: number, each: number, seconds: number): Shape {
  return {
    name,
    what: `${boxes * each} ConfigMaps of 1 MB, ${boxes} Boxes that refer to ${each} each`,
    seconds,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(many(boxes * each, (i) => configMap(i, MB)));
      await world.make(
        many(boxes, (i) =>
          box(`box-${i}`, {
            variables: Array.from({ length: each }, (_, j) => fileVariable(`content-${i * each + j}`, j)),
          }),
        ),
      );
    },
  };
}

/** Boxes of which each contains the next. */
function chain(length: number, seconds: number): Shape {
  return {
    name: `chain-${length}`,
    what: `${length} Boxes in a chain`,
    seconds,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(
        many(length, (i) =>
          box(`box-${i}`, {
            variables:
              i + 1 < length ? [{ name: 'next', type: 'Box', boxRef: { name: `box-${i + 1}` } }] : [],
          }),
        ),
      );
    },
  };
}

const smallRecord = '{"id":"r","name":"web"},';
const record = (more: string): string => `{"id":"r","name":"web"${more}}`;

/** All that the issue names, and more. */
export const SHAPES: readonly Shape[] = [
  contents('contents', 5, 84, 60),
  contents('contents-that-fit', 14, 30, 120),
  answers(
    'objects',
    '63 MB of [{},{},…] for each list',
    ({ path }, to) => isList(path) && pour(to, '[', '{},', 63 * MB, '{}]'),
  ),
  answers(
    'records',
    'records of 9 MB and 3 million values',
    ({ method, path }, to) => isRecord(method, path) && pour(to, '{"id":"r","x":[', '{},', 9 * MB, '1]}'),
  ),
  answers(
    'small-records',
    '63 MB of small records for each list',
    ({ path }, to) => isList(path) && pour(to, '[', smallRecord, 63 * MB, `${record('')}]`),
  ),
  chain(2_500, 90),
  chain(5_000, 120),
  answers(
    'deep',
    'JSON of 10 million lists inside each other',
    ({ path }, to) => isList(path) && pour(to, '', '[', 10 * MB, ''),
  ),
  answers(
    'wide',
    'records of 50,000 names',
    ({ path }, to) =>
      isList(path) &&
      pour(
        to,
        '[',
        `${record(Array.from({ length: 20_000 }, (_, i) => `,"k${i}":1`).join(''))},`,
        63 * MB,
        `${record('')}]`,
      ),
  ),
  answers(
    'long-texts',
    'records of 9 MB of text, read one by one',
    ({ path, method }, to) =>
      (isList(path) && pour(to, '[', smallRecord, 1_000, `${record('')}]`)) ||
      (isRecord(method, path) && pour(to, '{"id":"r","name":"', 'é\\n', 9 * MB, '"}')),
  ),
  answers(
    'long-entries',
    'lists of entries of 9 MB of text',
    ({ path }, to) =>
      isList(path) && pour(to, '[', `{"id":"r","name":"${'x'.repeat(9 * MB)}"},`, 63 * MB, `${record('')}]`),
  ),
  answers(
    'huge-numbers',
    'lists of numbers of 20 digits, and one of a million',
    ({ path }, to) =>
      isList(path) &&
      pour(to, `[{"id":"r","n":${'9'.repeat(MB)}},{"id":"r","x":[`, '12345678901234567890,', 63 * MB, '1]}]'),
  ),
  answers('slow', 'a byte a second', ({ path }, to) => {
    if (!isList(path)) return false;
    to.writeHead(200);
    to.write('[');
    const drip = setInterval(() => to.write(' '), 1_000);
    to.on('close', () => clearInterval(drip));
    return true;
  }),
  answers(
    'endless',
    'answers without an end',
    ({ path }, to) => isList(path) && pour(to, '[', ' ', Infinity, ''),
  ),
  answers('compressed', 'compressed answers of 1 GB', ({ path }, to) => {
    if (!isList(path)) return false;
    to.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    to.end(BOMB);
    return true;
  }),
  {
    name: 'many-at-once',
    what: '60 Connections with lists of 30 MB, all at once',
    seconds: 90,
    async prepare(world) {
      world.service.malice = ({ path }, to) =>
        isList(path) &&
        pour(
          to,
          '[',
          `{"id":"r","name":"web","tags":["a"],"x":"${'x'.repeat(1_000)}"},`,
          30 * MB,
          `${record('')}]`,
        );
      await world.connection();
      for (let i = 0; i < 60; i++) await world.connection(`c-${i}`);
      await world.make(many(60, (i) => box(`box-${i}`, { connectionRef: { name: `c-${i}` } })));
    },
  },
  {
    name: 'many-small',
    what: '10,000 small Boxes',
    seconds: 90,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(
        many(10_000, (i) => box(`box-${i}`, { variables: [{ name: 'A', type: 'Text', value: `${i}` }] })),
      );
    },
  },
  {
    name: 'connections',
    what: '1,000 Connections to a service with lists of 1 MB',
    seconds: 90,
    async prepare(world) {
      world.service.malice = ({ path }, to) =>
        path === '/services/workspaces' &&
        pour(to, '[', `{"id":"w","schema":"x","name":"${'x'.repeat(1_000)}"},`, MB, '{"id":"w"}]');
      await world.connection();
      for (let i = 0; i < 1_000; i++) await world.connection(`c-${i}`);
    },
  },
  {
    name: 'large-boxes',
    what: '300 Boxes of 600 kB of inline scripts',
    seconds: 90,
    async prepare(world) {
      await world.connection('main', FAST);
      const names = [
        'preInstall',
        'install',
        'preConfigure',
        'configure',
        'preStart',
        'start',
        'preStop',
        'stop',
        'postStop',
        'dispose',
      ];
      await world.make(
        many(300, (i) =>
          box(`box-${i}`, { events: Object.fromEntries(names.map((name, j) => [name, script(i, j)])) }),
        ),
      );
    },
  },
  {
    name: 'all-in-all',
    what: '400 Boxes of which each contains 40 others',
    seconds: 90,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(
        many(400, (i) =>
          box(`box-${i}`, {
            variables: Array.from({ length: 40 }, (_, j) => ({
              name: `B${j}`,
              type: 'Box',
              boxRef: { name: `box-${(i + j + 1) % 400}` },
            })),
          }),
        ),
      );
    },
  },
  {
    name: 'secrets',
    what: '100 Secrets of 1 MB as files, and a Password of 1 MB',
    seconds: 60,
    async prepare(world) {
      await world.connection('main', FAST);
      await world.make(
        many(
          100,
          (i) =>
            ({
              apiVersion: 'v1',
              kind: 'Secret',
              metadata: { name: `s-${i}` },
              stringData: { x: `${i} `.padEnd(MB, 'x') },
            }) as unknown as KubeObject,
        ),
      );
      await world.make(
        many(5, (i) =>
          box(`box-${i}`, { variables: Array.from({ length: 20 }, (_, j) => secretFile(i * 20 + j)) }),
        ),
      );
      await world.make([
        box('password', {
          variables: [
            { name: 'P', type: 'Password', valueFrom: { secretKeyRef: { name: 's-0', key: 'x' } } },
          ],
        }),
      ]);
    },
  },
  {
    name: 'edits',
    what: 'a Box of 100 variables edited 20 times a second',
    seconds: 45,
    async prepare(world) {
      await world.connection('main', FAST);
    },
    async meanwhile(world) {
      for (let i = 0; i < 400; i++) {
        await world.make([
          ours('Box', `edited-${i}`, {
            connectionRef: { name: 'main' },
            variables: Array.from({ length: 100 }, (_, j) => ({
              name: `V${j}`,
              type: 'Text',
              value: `${i}`.padEnd(2_000, 'x'),
            })),
          }),
        ]);
      }
    },
  },
];

const BOMB = gzipSync(Buffer.alloc(100 * MB, '[1,'));
