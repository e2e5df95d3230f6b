import { gzipSync } from 'node:zlib';
import { pour, type Malice } from './service.ts';
import { answers, FAST, isList, isRecord, many, MB, type Shape } from './shapes.ts';
import { box, ours } from './world.ts';

const isUpload = (path: string): boolean => path.startsWith('/services/blobs/upload/');
const isVersions = (path: string): boolean => path.endsWith('/versions');
const idIn = (path: string): string => path.split('/').at(-1) ?? '';
const words = (letter: string): string =>
  Array.from({ length: 15_000 }, (_, i) => `"${letter}${i}-of-many-words"`).join(',');

/** The same for each GET but those that a Connection and a search for a record begin with. */
const always =
  (give: Malice): Malice =>
  (call, to) =>
    call.method === 'GET' && call.path !== '/services/workspaces' && !isList(call.path) && give(call, to);

const BOMB = gzipSync(Buffer.alloc(100 * MB, '{"a":'));
const LONG_HEADERS = {
  'content-type': 'application/json',
  warning: Array.from({ length: 250 }, (_, i) => `299 - "warning ${i} ${'x'.repeat(80)}"`).join(', '),
};

/** What a service answers where the operator takes a single record, keeps words of it, or looks at headers. */
export const ANSWER_SHAPES: readonly Shape[] = [
  {
    name: 'versions',
    what: '63 MB of versions for each Box that is to be published',
    seconds: 45,
    async prepare(world) {
      world.service.malice = ({ path }, to) =>
        isVersions(path) &&
        pour(
          to,
          '[',
          '{"id":"v","version":{"number":{"major":1,"minor":2,"patch":3}}},',
          63 * MB,
          '{"id":"w"}]',
        );
      await world.connection('main', FAST);
      await world.make(many(20, (i) => box(`box-${i}`, { publish: { version: '1.0.0' } })));
    },
  },
  {
    name: 'foreign-boxes',
    what: '100 Instances of boxes that are known by id, of 15,000 requirements and options of 4 MB',
    seconds: 60,
    async prepare(world) {
      const rest = `"name":"web","requirements":[${words('r')}],"claims":[${words('c')}],"variables":[{"name":"CHOICE","type":"Options","options":"`;
      world.service.malice = ({ method, path }, to) =>
        isRecord(method, path) && pour(to, `{"id":"${idIn(path)}",${rest}`, 'a,b,', 4 * MB, '"}]}');
      await world.connection('main', FAST);
      await world.make(
        many(100, (i) =>
          ours('Instance', `instance-${i}`, {
            connectionRef: { name: 'main' },
            boxId: `box-${i}`,
            policyBoxId: `policy-${i}`,
            variables: [{ name: 'PORTT', type: 'Port', value: '1' }],
          }),
        ),
      );
    },
  },
  {
    name: 'tags',
    what: '20 Instances whose records have 40,000 tags, and 8,000 machines of one name',
    seconds: 45,
    async prepare(world) {
      const tags = Array.from({ length: 20_000 }, (_, i) => `"tag-${i}"`).join(',');
      const machines = Array.from({ length: 4_000 }, (_, i) => `{"name":"m","state":"s${i}"}`).join(',');
      world.service.malice = ({ method, path }, to) => {
        if (isRecord(method, path)) return pour(to, `{"id":"${idIn(path)}","name":"b"`, ' ', 1, '}');
        const isOne = method === 'GET' && /^\/services\/instances\/[^/]+$/.test(path);
        if (!isOne) return false;
        to.writeHead(200, { 'content-type': 'application/json' });
        to.end(
          `{"id":"${idIn(path)}","name":"web","owner":"ops","state":"done","operation":{"event":"deploy"},` +
            `"tags":[${tags}],"service":{"id":"s","machines":[${machines}]}}`,
        );
        return true;
      };
      await world.connection('main', FAST);
      await world.make(
        many(20, (i) =>
          ours('Instance', `instance-${i}`, {
            connectionRef: { name: 'main' },
            boxId: 'b',
            policyBoxId: 'p',
            tags: ['ours'],
          }),
        ),
      );
    },
  },
  {
    name: 'blobs',
    what: 'records of 9 MB for each of 2,000 uploads',
    seconds: 60,
    async prepare(world) {
      world.service.malice = ({ path }, to) =>
        isUpload(path) &&
        pour(to, '{"url":"/services/blobs/download/1/file","x":"', 'x'.repeat(1_000), 9 * MB, '"}');
      await world.connection('main', FAST);
      await world.make(
        many(20, (i) =>
          box(`box-${i}`, {
            variables: Array.from({ length: 100 }, (_, j) => ({
              name: `F${j}`,
              type: 'File',
              file: { inline: `${i} ${j}` },
            })),
          }),
        ),
      );
    },
  },
  answers(
    'deep-records',
    'records of 10 million objects inside each other, of every kind',
    always((_, to) => pour(to, '', '{"id":', 10 * MB, '')),
  ),
  answers(
    'wide-records',
    'records of one name of 9 MB, of every kind',
    always((_, to) => pour(to, '{"id":"r","', 'x'.repeat(1_000), 9 * MB, '":1}')),
  ),
  answers(
    'bombs',
    'compressed answers of 100 MB, of every kind',
    always((_, to) => {
      to.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      to.end(BOMB);
      return true;
    }),
  ),
  answers(
    'drips',
    'a byte a second for each answer of every kind, to 200 Boxes',
    always((_, to) => {
      to.writeHead(200);
      to.write('[');
      const drip = setInterval(() => to.write(' '), 1_000);
      to.on('close', () => clearInterval(drip));
      return true;
    }),
    { boxes: 200 },
  ),
  answers(
    'warnings',
    '30 kB of Warning headers with each answer to a write',
    ({ method }, to) => {
      if (method === 'GET') return false;
      to.writeHead(500, LONG_HEADERS).end('{}');
      return true;
    },
    { boxes: 200 },
  ),
  answers(
    'long-headers',
    'headers of 10 MB',
    always((_, to) => {
      to.socket?.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(10 * MB)}\r\n\r\n`);
      return true;
    }),
    { boxes: 200 },
  ),
  answers(
    'retry-after',
    'a Retry-After of years with each answer',
    always((_, to) => {
      to.writeHead(503, { 'retry-after': '999999999' }).end();
      return true;
    }),
    { boxes: 200 },
  ),
  answers(
    'redirects',
    'redirects from each path to itself',
    always(({ path }, to) => {
      to.writeHead(302, { location: path }).end();
      return true;
    }),
    { boxes: 200 },
  ),
];
