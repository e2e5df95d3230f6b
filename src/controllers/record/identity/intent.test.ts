import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { concludesFrom, formatIntent, MAX_SKIP, parseIntent, type IntentSeal } from './intent.ts';

const SEAL: IntentSeal = {
  uid: 'uid-1',
  make: (body) => `sealed ${body}`,
  holds: (seal, body) => seal === `sealed ${body}`,
};
const NOW = '2026-01-01T00:00:00.000Z';

describe('a create-intent', () => {
  it('reads back as it was written', () => {
    const time = fc.integer({ min: 0, max: 4_102_444_800_000 }).map((ms) => new Date(ms).toISOString());
    fc.assert(
      fc.property(
        time,
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.string(), { maxLength: MAX_SKIP }),
        fc.option(time, { nil: undefined }),
        fc.option(fc.record({ endpoint: fc.string(), owner: fc.string() }), { nil: undefined }),
        (at, tried, skip, expire, place) => {
          const intent = {
            at,
            try: tried,
            skip,
            ...(expire === undefined ? {} : { expire }),
            ...(place === undefined ? {} : { place }),
          };
          expect(parseIntent(formatIntent(intent, SEAL), NOW, SEAL)).toEqual(intent);
        },
      ),
    );
  });

  it('is none only where there is no annotation: damaged text still says that something may have been sent', () => {
    expect(parseIntent(undefined, NOW, SEAL)).toBeUndefined();
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const intent = parseIntent(text, NOW, SEAL);
        expect(intent).toBeDefined();
        expect(Number.isNaN(Date.parse(intent?.at ?? ''))).toBe(false);
        expect(intent?.try).toBeGreaterThanOrEqual(1);
      }),
    );
  });
});

describe('a create-intent that was not sealed for the resource', () => {
  const intent = { at: '2020-01-01T00:00:00.000Z', try: 3, skip: ['r1'], expire: '2020-01-02T00:00:00.000Z' };

  it('says that something may have been sent, and how often, and nothing else', () => {
    const text = formatIntent(intent, SEAL);
    const changed = JSON.stringify({ ...(JSON.parse(text) as object), skip: [] });
    const others = formatIntent(intent, { ...SEAL, make: () => 'made up' });
    for (const forged of [JSON.stringify(intent), changed, others]) {
      expect(parseIntent(forged, NOW, SEAL)).toEqual({ at: NOW, try: 3, skip: [] });
    }
  });
});

describe('a create of unknown outcome', () => {
  it('may land as late as its time-out, and be shown a lag window later', () => {
    const [postTimeout, lag] = [30_000, 60_000];
    for (const window of [0, 10_000, lag, 5 * lag]) {
      const shownAtLast = 1_000 + postTimeout + window;
      expect(concludesFrom(1_000, window)).toBeGreaterThanOrEqual(shownAtLast);
    }
  });
});

it('that is deeper than anybody can walk through says that something may have been sent, and nothing else', () => {
  const deep = `{"seal":"k/h","x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(parseIntent(deep, NOW, SEAL)).toEqual({ at: NOW, try: 1, skip: [] });
});
