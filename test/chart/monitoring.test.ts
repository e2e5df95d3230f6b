import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { PROCESS_METRICS } from '../../src/cli/operator/process-metrics.ts';
import { SERVICE_METRICS } from '../../src/cli/operator/service-metrics.ts';
import { METRICS } from '../../src/kube/observe/metrics.ts';
import type { MetricDefinition } from '../../src/kube/index.ts';
import { CHART } from './chart.ts';

const tables: Record<string, MetricDefinition>[] = [METRICS, SERVICE_METRICS, PROCESS_METRICS];
/** Metrics of this process and of Prometheus itself that no table of ours names. */
const OTHERS = ['up', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'];
const known = new Map<string, readonly string[]>([
  ...OTHERS.map((name): [string, string[]] => [name, []]),
  ...tables
    .flatMap((table) => Object.values(table))
    .map(({ name, type, labels }): [string, readonly string[]] => [
      type === 'histogram' ? `${name}_bucket` : name,
      labels ?? [],
    ]),
]);

const alerts = (
  parse(readFileSync(join(CHART, 'files/alerts.yaml'), 'utf8')) as {
    groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[];
  }
).groups.flatMap(({ rules }) => rules);
const panels = (
  JSON.parse(readFileSync(join(CHART, 'files/dashboard.json'), 'utf8')) as {
    panels: { title: string; targets: { expr: string }[] }[];
  }
).panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ title, expr })));

describe.each([...alerts.map(({ alert, expr }) => ({ title: alert, expr })), ...panels])(
  'the query of $title',
  ({ expr }) => {
    const selectors = [...expr.matchAll(/([a-z_][a-z0-9_]*)\{([^}]*)\}/g)];

    it('names metrics that there are, of this job, by labels that they have', () => {
      expect(selectors.length).toBeGreaterThan(0);
      for (const [, name = '', matchers = ''] of selectors) {
        expect([...known.keys()]).toContain(name);
        expect(matchers).toContain('job="boxwright"');
        const labels = [...matchers.matchAll(/([a-z_]+)(?:=|!=)/g)].map(([, label]) => label);
        for (const label of labels) expect(['job', ...(known.get(name) ?? [])]).toContain(label);
      }
    });

    it('groups by labels that the metric has', () => {
      const labels = new Set(selectors.flatMap(([, name = '']) => known.get(name) ?? []));
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/));
      expect(grouped.filter((label) => label !== 'le' && !labels.has(label))).toEqual([]);
    });
  },
);

describe('the alerts', () => {
  it('say what happened and what to do', () => {
    expect(alerts.length).toBeGreaterThan(5);
    for (const { annotations } of alerts) {
      expect(annotations['summary']).toMatch(/\.$/);
      expect(annotations['description']).toMatch(/\.$/);
    }
  });
});
