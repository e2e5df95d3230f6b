/**
 * Renders the alerts with Helm and gives them to promtool: their syntax with default and with other values, that
 * of the dashboard's queries, the names of the metrics, and the cases in test/promtool. Exits with 1 when
 * something is wrong, and with 2 when there is no promtool. Usage: node scripts/check-rules.ts
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { cacheFolder } from '../src/devcluster/index.ts';
import { Metrics, type MetricDefinition } from '../src/kube/index.ts';
import { installClients } from '../src/devcluster/programs/clients.ts';
import { dashboardQueries } from './chart/dashboard.ts';
import { alerts } from './chart/alerts.ts';
import { ALL_METRICS } from './metrics.ts';

const root = join(import.meta.dirname, '..');
const cases = join(root, 'test', 'promtool');
/** The namespace of the release whose series the cases feed. */
const NAMESPACE = 'boxwright-system';
const HELP = `promtool is not on PATH. It comes with Prometheus: on Debian and Ubuntu
  apt-get install --no-install-recommends prometheus
elsewhere from https://prometheus.io/download. The server that the package starts is not needed.
`;
/** Values other than the defaults: every threshold another one, one alert left out. */
const OTHERS = {
  alertLabels: { team: 'platform' },
  disabled: ['BoxwrightLeasesExpiring'],
  thresholds: { passSeconds: 3_600_000, stalledFor: '1h', serviceFailurePercent: 50 },
};

interface RuleFile {
  groups: { name: string; rules: unknown[] }[];
}

function run(program: string, args: readonly string[], input = ''): string {
  const { status, stdout, error } = spawnSync(program, args, {
    encoding: 'utf8',
    input,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exitCode = 1;
  return stdout;
}

function render(helm: string, rules: object): RuleFile {
  const values = { crds: { enabled: false }, metrics: { rules: { enabled: true, ...rules } } };
  const template = ['--show-only', 'templates/prometheus-rule.yaml'];
  const text = run(
    helm,
    ['template', 'boxwright', join(root, 'helm/boxwright'), '--namespace', NAMESPACE, ...template, '-f', '-'],
    JSON.stringify(values),
  );
  return (parse(text) as { spec: RuleFile }).spec;
}

/** What promtool finds wrong with the names and texts of our metrics; those of prom-client are not ours to name. */
async function lintMetrics(): Promise<string[]> {
  const metrics = new Metrics();
  for (const definition of ALL_METRICS) {
    if (!metrics.registry.getSingleMetric(definition.name)) register(metrics, definition);
  }
  const { stderr } = spawnSync('promtool', ['check', 'metrics'], {
    encoding: 'utf8',
    input: await metrics.render(),
  });
  return stderr.split('\n').filter((line) => line !== '');
}

function register(metrics: Metrics, definition: MetricDefinition): void {
  if (definition.type === 'counter') metrics.counter(definition);
  else if (definition.type === 'gauge') metrics.gauge(definition);
  else metrics.histogram(definition);
}

/** promtool checks rules only: a query is put to it as a recording rule. */
function queriesAsRules(): RuleFile {
  const rules = dashboardQueries().map((expr, at) => ({ record: `dashboard:query:${at}`, expr }));
  return { groups: [{ name: 'dashboard', rules }] };
}

async function main(): Promise<void> {
  if (spawnSync('promtool', ['--version'], { stdio: 'ignore' }).error !== undefined) {
    process.stderr.write(HELP);
    process.exitCode = 2;
    return;
  }
  for (const problem of await lintMetrics()) {
    process.stdout.write(`${problem}\n`);
    process.exitCode = 1;
  }
  const clients = { cache: cacheFolder(process.env), env: process.env, optional: false, folders: [] };
  const { helm } = await installClients({ ...clients, lock: (work) => work() });
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-rules-'));
  try {
    cpSync(cases, folder, { recursive: true });
    const files = {
      'rules.yaml': render(helm, {}),
      'rules-other-values.yaml': render(helm, OTHERS),
      'dashboard-queries.yaml': queriesAsRules(),
    };
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(folder, name), stringify(content, { lineWidth: 0 }));
      process.stdout.write(run('promtool', ['check', 'rules', join(folder, name)]));
    }
    const count = files['rules.yaml'].groups.flatMap(({ rules }) => rules).length;
    if (count !== alerts.length) throw new Error(`${count} alerts were rendered of ${alerts.length}`);
    const tests = readdirSync(cases).filter((name) => name.endsWith('.test.yaml'));
    process.stdout.write(run('promtool', ['test', 'rules', ...tests.map((name) => join(folder, name))]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write(process.exitCode === 1 ? 'FAILED\n' : `ok: ${alerts.length} alerts\n`);
}

await main();
