import { describe, expect, it } from 'vitest';
import { parseJson } from './json.ts';
import type { WatchLine } from '../port.ts';
import { watchLines } from './watch-lines.ts';

async function linesOf(chunks: readonly Uint8Array[], maxLineBytes?: number): Promise<WatchLine[]> {
  const lines: WatchLine[] = [];
  for await (const line of watchLines(stream(chunks), maxLineBytes === undefined ? {} : { maxLineBytes }))
    lines.push(line);
  return lines;
}

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

function lineOf(length: number): string {
  return `${JSON.stringify({ type: 'ADDED', object: { text: 'x'.repeat(length) } })}\n`;
}

/** How many turns lines take that arrive together. */
async function turnsFor(texts: readonly string[]): Promise<number> {
  let taken = 0;
  const turns = { take: async () => void (taken += 1), of: () => turns };
  let lines = 0;
  for await (const _ of watchLines(stream([Buffer.from(texts.join(''))]), { turns })) lines += 1;
  expect(lines).toBe(texts.length);
  return taken;
}

describe('watchLines', () => {
  const text = ['🌳', 'grün', 'plain']
    .map((name) => `${JSON.stringify({ type: 'ADDED', object: { name } })}\n`)
    .join('\n');

  it('reads the same lines however the bytes are cut', async () => {
    const bytes = Buffer.from(text);
    const whole = await linesOf([bytes]);
    expect(whole.map((line) => (line.object as { name: string }).name)).toEqual(['🌳', 'grün', 'plain']);
    for (const size of [1, 2, 3, 7, 50]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await linesOf(chunks)).toEqual(whole);
    }
  });

  it('parses long lines one turn after the other, and short ones together', async () => {
    expect(await turnsFor(Array.from({ length: 5 }, () => lineOf(50_000)))).toBe(5);
    expect(await turnsFor(Array.from({ length: 300 }, () => lineOf(100)))).toBeLessThan(3);
  });

  it('refuses a line that never ends', async () => {
    const chunks = Array.from({ length: 20 }, () => Buffer.alloc(100, 'x'));
    await expect(linesOf(chunks, 1_000)).rejects.toThrow(/longer than 1000 bytes/);
  });
});

describe('parseJson', () => {
  it('drops members that would change a prototype, however they are spelt', () => {
    for (const text of [
      '{"__proto__":{"x":1},"a":1}',
      '{"\\u005f_proto__":{"x":1},"a":1}',
      '{"_\\u005Fproto__":1,"a":1}',
    ]) {
      expect(Object.keys(parseJson(text) as object)).toEqual(['a']);
    }
  });

  it('keeps the words in values, and answers undefined for what is no JSON', () => {
    expect(parseJson('{"a":"__proto__"}')).toEqual({ a: '__proto__' });
    expect(parseJson('<html>')).toBeUndefined();
  });
});
