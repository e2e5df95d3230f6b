import { createServer, type ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { MemoryBudget } from '../base/memory-budget.ts';
import { listenOnLoopback } from '../base/proxy/test-listen.ts';
import { EventLoopTurns } from '../base/turns.ts';
import { createServiceClient, type ServiceClient } from './client.ts';
import { watchLoop } from '../../test/support/held-loop.ts';
import { createUndiciPort } from './transport/undici-port.ts';

/** At most what the operator has at the chart's memory limit, bytes. */
const CAPACITY = 100_000_000;
/** So long the event loop may be held, milliseconds. */
const HELD_MS = 200;
const RECORD = '{"id":"r","name":"web"}';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  while (closers.length > 0) await closers.pop()?.();
});

/** A service that answers everything with such a body, and its client. */
async function facing(
  answer: (response: ServerResponse) => void,
): Promise<{ client: ServiceClient; budget: MemoryBudget; most: () => number }> {
  const { port, stop } = await listenOnLoopback(createServer((_, response) => answer(response)));
  closers.push(stop);
  const budget = new MemoryBudget({ capacity: CAPACITY, clock: systemClock });
  const turns = new EventLoopTurns();
  const way = createUndiciPort({
    endpoint: `http://127.0.0.1:${port}`,
    allowedHosts: ['*:*'],
    allowInsecure: true,
    allowLoopback: true,
    clock: systemClock,
    turns,
  });
  const client = createServiceClient({
    port: way,
    credentials: { kind: 'token', token: 'token-of-ops' },
    memory: budget.share('shop'),
    turns,
    clock: systemClock,
    random: Math.random,
    limits: { breakerFailures: 1_000 },
  });
  let most = 0;
  const look = setInterval(() => (most = Math.max(most, budget.heldFor('answers'))), 5);
  closers.push(async () => {
    clearInterval(look);
    client.close();
    await way.close();
  });
  return { client, budget, most: () => most };
}

/** Sends a text many times over, no faster than it is taken. */
function sendOften(response: ServerResponse, head: string, text: string, bytes: number, tail: string): void {
  const piece = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  let left = bytes;
  const more = (): void => {
    for (; left > 0; left -= piece.length) {
      if (!response.write(piece)) {
        left -= piece.length;
        response.once('drain', more);
        return;
      }
    }
    response.end(tail);
  };
  response.write(head);
  more();
}

/** Chunks of one byte each. */
function piecesOf(text: string): string {
  return text.replaceAll(/./g, '1\r\n$&\r\n');
}

/** Sends a body as pieces of one byte each, by chunked transfer coding. */
function sendPieces(response: ServerResponse, head: string, bytes: number, tail: string): void {
  const { socket } = response;
  socket?.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n');
  socket?.write(piecesOf(head));
  const many = Buffer.from(piecesOf('x'.repeat(10_000)));
  let left = bytes / 10_000;
  const more = (): void => {
    for (; left > 0; left -= 1) {
      if (socket?.write(many) !== true) {
        left -= 1;
        socket?.once('drain', more);
        return;
      }
    }
    socket?.write(`${piecesOf(tail)}0\r\n\r\n`);
  };
  more();
}

/** The longest time that the thread works in one turn of the event loop meanwhile, milliseconds. */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  const end = watchLoop(({ ms }) => (longest = Math.max(longest, ms)));
  await work();
  end();
  return longest;
}

const MB = 1_000_000;

// S4
it.each<[string, (response: ServerResponse) => void, string, string]>([
  ['empty objects', (to) => sendOften(to, '[', '{},', 63 * MB, '{}]'), 'BadAnswer', 'no id'],
  [
    'small records',
    (to) => sendOften(to, '[', '{"id":"r"},', 63 * MB, RECORD + ']'),
    'MemoryFull',
    'more memory than',
  ],
  [
    'an entry of many values',
    (to) => sendOften(to, '[{"id":"r","x":[', '{},', 63 * MB, '1]}]'),
    'TooLarge',
    'more than 50000 values',
  ],
  ['an entry that does not end', (to) => sendOften(to, '[{"id":"', 'x', 63 * MB, '"}]'), 'TooLarge', 'entry'],
  ['lists inside each other', (to) => sendOften(to, '', '[', 63 * MB, ''), 'BadAnswer', 'too deep'],
  ['what does not end', (to) => sendOften(to, '[', ' ', Infinity, ''), 'TooLarge', 'larger than'],
  ['what is no list', (to) => sendOften(to, '{"a":[', '1,', 63 * MB, '1]}'), 'BadAnswer', 'not a list'],
])('lists of %s are refused in words, and nothing is held up', async (_, answer, code, words) => {
  const { client, budget, most } = await facing(answer);
  const held = await longestHold(async () => {
    const read = await client.workspaces.instances('w');
    expect(read).toMatchObject({ kind: 'unknown', error: { code } });
    expect(read.kind === 'unknown' && read.error.message).toContain(words);
  });
  expect(held).toBeLessThan(HELD_MS);
  expect(most()).toBeLessThan(CAPACITY / 2);
  expect(budget.heldFor('answers')).toBe(0);
});

it('a long list is read, and only what is looked at is kept of it', async () => {
  const entry = `{"id":"i","updated":"2026-01-01 00:00:00.000000","tags":["a"],"variables":[{"name":"V","value":"${'x'.repeat(2_000)}"}]},`;
  const { client, most } = await facing((to) => sendOften(to, '[', entry, 40 * MB, RECORD + ']'));
  const held = await longestHold(async () => {
    const read = await client.workspaces.instances('w');
    expect(read).toMatchObject({ kind: 'found' });
    const [first] = read.kind === 'found' ? read.record : [];
    expect(first).toEqual({ id: 'i', updated: '2026-01-01 00:00:00.000000', tags: ['a'] });
  });
  expect(held).toBeLessThan(HELD_MS);
  expect(most()).toBeLessThan(12 * MB);
});

it.each<[string, string, string, string]>([
  ['many values', `{"id":"r","x":[${'{},'.repeat(3 * MB)}1]}`, 'TooLarge', 'more than 50000 values'],
  ['a number of five million digits', `{"id":"r","x":${'9'.repeat(5 * MB)}}`, 'TooLarge', 'digits'],
  ['whole numbers', `{"id":"r","x":[${'12345678901234567890,'.repeat(430_000)}1]}`, 'TooLarge', 'values'],
  [
    'lists inside each other',
    `{"id":"r","x":${'['.repeat(40_000)}${']'.repeat(40_000)}}`,
    'TooLarge',
    'values',
  ],
  ['lists a little too deep', `{"id":"r","x":${'['.repeat(80)}${']'.repeat(80)}}`, 'BadAnswer', 'too deep'],
  ['a long text', `{"id":"r","x":"${'é\\n'.repeat(2.2 * MB)}"}`, 'found', ''],
])(
  'records of %s, at once, hold nothing up',
  async (_, body, code, words) => {
    const bytes = Buffer.from(body);
    const { client, most } = await facing((to) => to.end(bytes));
    const held = await longestHold(async () => {
      const reads = await Promise.all(Array.from({ length: 2 }, () => client.instances.read('r')));
      for (const read of reads) {
        const said = read.kind === 'unknown' ? read.error.code : read.kind;
        // Those that do not fit beside the others say so.
        expect([code, 'MemoryFull']).toContain(said);
      }
      const [first] = reads;
      expect(first?.kind === 'unknown' ? first.error.message : '').toContain(words);
    });
    expect(held).toBeLessThan(HELD_MS);
    expect(most()).toBeLessThan(CAPACITY / 2);
  },
  40_000,
);

// Each piece of a body is an object of its own: ten million of one byte are a gigabyte.
it.each([
  ['record', (client: ServiceClient) => client.instances.read('r')],
  ['list', (client: ServiceClient) => client.workspaces.instances('w')],
])(
  'a %s that comes in pieces of one byte takes no more memory than another',
  async (what, read) => {
    const [head, tail] = what === 'list' ? ['[{"id":"r","name":"', '"}]'] : ['{"id":"r","name":"', '"}'];
    const { client } = await facing((response) => sendPieces(response, head, 5 * MB, tail));
    const before = process.memoryUsage();
    let most = 0;
    const look = setInterval(() => {
      const { heapUsed, external } = process.memoryUsage();
      most = Math.max(most, heapUsed + external - before.heapUsed - before.external);
    }, 20);
    const held = await longestHold(() => read(client));
    clearInterval(look);
    expect(held).toBeLessThan(HELD_MS);
    expect(most).toBeLessThan(200 * MB);
  },
  60_000,
);

it('what is compressed is told as that', async () => {
  const { client } = await facing((to) => to.end(Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3])));
  const read = await client.instances.read('r');
  expect(read.kind === 'unknown' && read.error.message).toContain('compressed');
});
