import type { Metrics } from '../../src/kube/index.ts';

/** Labels of a series; those that are not named may have any value. */
type Labels = Readonly<Record<string, string>>;

/**
 * The sum of the series of a metric that have these labels, or undefined when there is none. Of a histogram
 * give the name with `_count`, `_sum` or `_bucket`.
 */
export async function metricOf(
  metrics: Metrics,
  name: string,
  labels: Labels = {},
): Promise<number | undefined> {
  const values = (await seriesOf(metrics, name))
    .filter((series) => Object.entries(labels).every(([label, value]) => series.labels[label] === value))
    .map(({ value }) => value);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}

/** All series of a metric, as the text format shows them. */
export async function seriesOf(metrics: Metrics, name: string): Promise<{ labels: Labels; value: number }[]> {
  const lines = (await metrics.render()).split('\n');
  return lines.flatMap((line) => {
    const found = /^([a-z_:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found?.[1] !== name) return [];
    const labels = [...(found[2] ?? '').matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, value]) => [
      label,
      value,
    ]);
    return [{ labels: Object.fromEntries(labels) as Labels, value: Number(found[3]) }];
  });
}
