import { createServer, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { MemoryBudget } from '../base/memory-budget.ts';
import { listenOnLoopback } from '../base/proxy/test-listen.ts';
import { EventLoopTurns } from '../base/turns.ts';
import { createServiceClient, type ServiceClient } from './client.ts';
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

/**
 * The longest time that the event loop is held meanwhile, milliseconds: the best of three, as the machine of a test may
 * have other things to do.
 */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < 3 && best >= HELD_MS; i++) {
    const monitor = monitorEventLoopDelay({ resolution: 5 });
    monitor.enable();
    await work();
    monitor.disable();
    best = Math.min(best, monitor.max / 1e6);
  }
  return best;
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
  ['whole numbers', `{"id":"r","x":[${'12345678901234567890,'.repeat(430_000)}1]}`, 'TooLarge', 'values'],
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

it('what is compressed is told as that', async () => {
  const { client } = await facing((to) => to.end(Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3])));
  const read = await client.instances.read('r');
  expect(read.kind === 'unknown' && read.error.message).toContain('compressed');
});
