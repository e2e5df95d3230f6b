import { expect, it } from 'vitest';
import { ALL_METRICS } from './metrics.ts';

/** Labels whose values come from closed lists; `connection` and `host` are few, `template` and `version` ours. */
const BOUNDED = new Set(
  (
    'kind ready state reason step operation outcome action by priority connection method template code host ' +
    'result controller name version node use'
  ).split(' '),
);

const ENDINGS = {
  counter: /_total$/,
  histogram: /_seconds$/,
  gauge: /(?<!_total|_count|_sum|_bucket)$/,
} as const;

it('names every metric by the conventions of Prometheus, and says what it is', () => {
  for (const { name, type, help } of ALL_METRICS) {
    expect(name).toMatch(/^[a-z][a-z_]*[a-z]$/);
    expect(name).toMatch(ENDINGS[type]);
    expect(name).not.toMatch(/milliseconds|_ms$|minutes|hours/);
    expect(help).toMatch(/^[A-Z1].*\.$/);
  }
  const names = ALL_METRICS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
});

it('has labels of few values only', () => {
  const labels = new Set(ALL_METRICS.flatMap((metric) => [...metric.labels]));
  expect([...labels].filter((label) => !BOUNDED.has(label))).toEqual([]);
});

it('has increasing buckets', () => {
  for (const { name, buckets = [] } of ALL_METRICS) {
    expect({ name, buckets: buckets.toSorted((a, b) => a - b) }).toEqual({ name, buckets });
  }
});
