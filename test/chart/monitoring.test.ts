import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alerts, THRESHOLDS } from '../../scripts/chart/alerts.ts';
import { ALL_METRICS } from '../../scripts/metrics.ts';
import { ProcessMetrics } from '../../src/cli/operator/process-metrics.ts';
import { Metrics } from '../../src/kube/index.ts';
import { ROOT } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { CHART, Helm, only, podSpecOf } from './chart.ts';
import { readQuery } from './promql.ts';

/** Labels that the monitors, not the process, put on every series. */
const TARGET_LABELS = ['job', 'namespace', 'pod', 'instance'];

interface Rule {
  alert: string;
  expr: string;
  for: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}
type Spec = { groups: { rules: Rule[] }[] };

/** The labels of each series that a scrape can show, by name. */
const known = new Map<string, readonly string[]>([['up', []]]);
for (const { name, type, labels } of ALL_METRICS) {
  if (type !== 'histogram') known.set(name, labels);
  else {
    known.set(`${name}_bucket`, [...labels, 'le']);
    known.set(`${name}_sum`, labels);
    known.set(`${name}_count`, labels);
  }
}
const processMetrics = new Metrics();
const running = new ProcessMetrics(processMetrics);
for (const { name } of (await processMetrics.registry.getMetricsAsJSON()) as { name: string }[]) {
  if (!known.has(name)) known.set(name, []);
}
running.stop();

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const rulesOf = (spec: unknown): Rule[] => (spec as Spec).groups.flatMap(({ rules }) => rules);
const kustomized = rulesOf(
  (
    parse(read('deploy/kustomize/components/monitoring/prometheus-rule.yaml')) as {
      spec: unknown;
    }
  ).spec,
);
const panels = (
  JSON.parse(readFileSync(join(CHART, 'files/dashboard.json'), 'utf8')) as {
    panels: { title: string; targets?: { expr: string }[] }[];
  }
).panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

describe.each([...kustomized.map(({ alert, expr }) => ({ title: alert, expr })), ...panels])(
  'the query of $title',
  ({ expr }) => {
    const { selectors, grouped } = readQuery(expr);

    it('names metrics that there are, of this job, by labels that they have', () => {
      expect(selectors.length).toBeGreaterThan(0);
      for (const { metric, labels, exactly } of selectors) {
        expect([...known.keys()]).toContain(metric);
        expect(exactly['job']).toBe('boxwright');
        for (const label of labels) expect([...TARGET_LABELS, ...(known.get(metric) ?? [])]).toContain(label);
      }
    });

    it('groups by labels that every one of its metrics has', () => {
      const every = selectors.map(({ metric }) => [...TARGET_LABELS, ...(known.get(metric) ?? [])]);
      for (const labels of every) expect(labels).toEqual(expect.arrayContaining(grouped));
    });
  },
);

describe('the dashboard', () => {
  it('shows every metric of the domain and of the calls to the service', () => {
    const shown = new Set(
      panels.flatMap(({ expr }) => readQuery(expr).selectors.map(({ metric }) => metric)),
    );
    const all = ALL_METRICS.filter(({ name }) => name.startsWith('boxwright_')).map(({ name, type }) =>
      type === 'histogram' ? `${name}_bucket` : name,
    );
    expect(all.filter((name) => !shown.has(name) && name !== 'boxwright_build_info')).toEqual([]);
  });

  it('is the same in the chart and in the overlay', () => {
    expect(read('deploy/kustomize/components/monitoring/dashboard.json')).toBe(
      read('helm/boxwright/files/dashboard.json'),
    );
  });
});

describe('the alerts of the chart', () => {
  let helm: Helm;
  beforeAll(() => {
    helm = new Helm(testCluster());
  });
  const rendered = async (rules: object): Promise<Rule[]> =>
    rulesOf(
      only(
        await helm.objects({ metrics: { rules: { enabled: true, ...rules } } }, '--namespace', 'ops'),
        'PrometheusRule',
      ).spec,
    );

  it('say what happened, where the runbook is, and ask for the pods of their own release only', async () => {
    const rules = await rendered({});
    expect(rules.map(({ alert }) => alert)).toEqual(alerts.map(({ name }) => name));
    for (const { alert, expr, labels, annotations } of rules) {
      expect(['critical', 'warning', 'info']).toContain(labels['severity']);
      expect(annotations['summary']).toMatch(/\.$/);
      expect(annotations['description']).toMatch(/\.$/);
      expect(annotations['runbook_url']).toMatch(new RegExp(`/docs/runbooks/${alert}\\.md$`));
      for (const { exactly } of readQuery(expr).selectors) expect(exactly['namespace']).toBe('ops');
    }
  });

  it('are those of the kustomize overlay, but for the namespace', async () => {
    const rules = await rendered({});
    const plain = rules.map((rule) => ({ ...rule, expr: rule.expr.replaceAll(',namespace="ops"', '') }));
    expect(plain).toEqual(kustomized);
  });

  it('take thresholds, labels and the place of the runbooks from values, and leave out what is disabled', async () => {
    const rules = await rendered({
      thresholds: Object.fromEntries(
        Object.entries(THRESHOLDS).map(([name, { value }]) => [
          name,
          typeof value === 'number' ? 123_456_789 : '77m',
        ]),
      ),
      alertLabels: { team: 'platform' },
      runbookUrl: 'https://wiki.example.com/boxwright',
      disabled: ['BoxwrightDown'],
    });
    expect(rules).toHaveLength(alerts.length - 1);
    const text = JSON.stringify(rules);
    expect(text.match(/> 123456789/g)).toHaveLength(
      Object.values(THRESHOLDS).filter(({ value }) => typeof value === 'number').length,
    );
    expect(rules.find(({ alert }) => alert === 'BoxwrightResourcesStalled')?.for).toBe('77m');
    for (const { alert, labels, annotations } of rules) {
      expect(labels['team']).toBe('platform');
      expect(annotations['runbook_url']).toBe(`https://wiki.example.com/boxwright/${alert}.md`);
    }
  });
});

describe('traces', () => {
  it('go where values say, and nowhere by default', async () => {
    const helm = new Helm(testCluster());
    const envOf = async (values: object): Promise<object[]> =>
      podSpecOf(only(await helm.objects(values), 'Deployment')).containers[0]?.env ?? [];
    const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
    const value = 'http://collector.observability:4318';
    expect(await envOf({ traces: { endpoint: value } })).toContainEqual({ name, value });
    expect(JSON.stringify(await envOf({}))).not.toContain(name);
  });
});
