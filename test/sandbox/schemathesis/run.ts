import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox, TEST_PROVIDER_ID, type Sandbox } from '../../../src/sandbox/index.ts';

const VERSION = '4.32.5';
const TOKEN = 'openapi-token';

/** What a run came to, or why there was none. */
export type OpenApiRun =
  { kind: 'ran'; cases: number; failures: number; report: string } | { kind: 'skipped'; why: string };

/**
 * schemathesis with all its checks over `/openapi.json` of fresh embedded services: once with whatever ids it makes
 * up, once with ids of records that are there. It is installed into the user's cache at the first run.
 */
export async function runSchemathesis(examples: number, print: (text: string) => void): Promise<OpenApiRun> {
  const tool = install(print);
  if (!('program' in tool)) return { kind: 'skipped', why: tool.why };
  const folder = mkdtempSync(join(tmpdir(), 'boxwright-openapi-'));
  const total = { cases: 0, failures: 0, report: '' };
  try {
    for (const known of [false, true]) {
      const { cases, failures, report } = await runOnce(tool.program, folder, examples, known, print);
      total.cases += cases;
      total.failures += failures;
      total.report += report;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { kind: 'ran', ...total };
}

/** The program in a virtual environment of its own, made when it is not there yet. */
function install(print: (text: string) => void): { program: string } | { why: string } {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const home = join(cache, 'boxwright', `schemathesis-${VERSION}`);
  const program = join(home, 'bin', 'schemathesis');
  const ready = join(home, 'installed');
  if (existsSync(ready)) return { program };
  const python = ['python3', 'python'].find(
    (name) => spawnSync(name, ['-c', 'import sys, venv; sys.exit(sys.version_info < (3, 10))']).status === 0,
  );
  if (python === undefined) return { why: 'there is no Python of version 3.10 or later' };
  print(`Installing schemathesis ${VERSION} into ${home} …\n`);
  // Scripts of a virtual environment name its folder: it is made where it stays.
  rmSync(home, { recursive: true, force: true });
  const steps: [string, string[]][] = [
    [python, ['-m', 'venv', home]],
    [join(home, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]],
  ];
  for (const [command, args] of steps) {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) return { why: `it could not be installed: ${stderr.trim().split('\n').at(-1)}` };
  }
  writeFileSync(`${ready}.new`, VERSION);
  renameSync(`${ready}.new`, ready);
  return { program };
}

interface Counts {
  cases: number;
  failures: number;
  report: string;
}

async function runOnce(
  program: string,
  folder: string,
  examples: number,
  known: boolean,
  print: (text: string) => void,
): Promise<Counts> {
  const fast = { deploy: 20, terminate: 20, provider: 10, reinstall: 20, reconfigure: 20, shutdown: 20 };
  const sandbox = createSandbox({
    account: { token: TOKEN, password: 'secret' },
    teams: ['Shop'],
    durations: fast,
  });
  const { url } = await sandbox.start();
  const config = join(folder, 'schemathesis.toml');
  const ids = known ? await populate(sandbox) : {};
  writeFileSync(config, configOf(ids));
  const report = join(folder, 'report.json');
  const args = ['--config-file', config, 'run', `${url}/openapi.json`, '--header', `Service-Token: ${TOKEN}`];
  args.push('--checks', 'all', '--max-examples', String(examples), '--continue-on-failure', '--seed', '7');
  args.push('--report-json-path', report, '--report', 'json', '--no-color', '--warnings', 'off');
  const code = await run(program, args, folder, print);
  await sandbox.stop();
  if (!existsSync(report)) throw new Error(`schemathesis ended with ${code} and left no report`);
  const text = readFileSync(report, 'utf8');
  const { test_cases, failures, errors } = JSON.parse(text) as {
    test_cases: { generated: number; unique_failures: number };
    failures: unknown[];
    errors: unknown[];
  };
  const found = Math.max(test_cases.unique_failures, failures.length) + errors.length;
  return { cases: test_cases.generated, failures: found, report: found === 0 ? '' : text };
}

/** A request that fits may ask for what cannot be: the check of ours looks at how a 400 is explained. */
function configOf(ids: Readonly<Record<string, string>>): string {
  const statuses = ['2xx', '3xx', '400', '401', '403', '404', '409', '429'];
  const parameters = Object.entries(ids).map(([name, id]) => `"path.${name}" = ${JSON.stringify(id)}`);
  return [
    '[parameters]',
    ...parameters,
    '[checks.positive_data_acceptance]',
    `expected-statuses = ${JSON.stringify(statuses)}`,
    '',
  ].join('\n');
}

function run(
  program: string,
  args: readonly string[],
  folder: string,
  print: (text: string) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, SCHEMATHESIS_HOOKS: 'checks', PYTHONPATH: import.meta.dirname };
    // It keeps what it learns in the folder where it runs.
    const child = spawn(program, args, { cwd: folder, env: { ...env, PYTHONDONTWRITEBYTECODE: '1' } });
    child.stdout.on('data', (bytes: Buffer) => print(bytes.toString('utf8')));
    child.stderr.on('data', (bytes: Buffer) => print(bytes.toString('utf8')));
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
}

/** Records of every family; returns the values of path parameters that lead to them. */
async function populate(sandbox: Sandbox): Promise<Record<string, string>> {
  const call = async (method: string, path: string, body: object): Promise<Record<string, string>> => {
    const { status, body: answer } = await sandbox.handle({
      method,
      path,
      headers: { 'service-token': TOKEN, 'content-type': 'text/plain' },
      body: Buffer.from(JSON.stringify(body)),
    });
    const text = Buffer.from(answer).toString('utf8');
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    return JSON.parse(text) as Record<string, string>;
  };
  const base = sandbox.schemaBase;
  const box = await call('POST', '/services/boxes', {
    schema: `${base}/boxes/script`,
    name: 'b',
    requirements: [],
  });
  const policy = await call('POST', '/services/boxes', {
    schema: `${base}/boxes/policy`,
    name: 'p',
    provider_id: TEST_PROVIDER_ID,
    claims: [],
    profile: { schema: `${base}/test/compute/profile` },
  });
  const instance = await call('POST', '/services/instances', {
    schema: `${base}/deploy-instance-request`,
    box: { id: box['id'] },
    policy_box: { id: policy['id'] },
  });
  const file = await call('POST', '/services/blobs/upload/f.txt', {});
  return {
    box_id: box['id'] ?? '',
    instance_id: instance['id'] ?? '',
    provider_id: TEST_PROVIDER_ID,
    workspace_id: 'shop',
    organization_name: 'public',
    file_id: file['url']?.split('/')[4] ?? '',
    file_name: 'f.txt',
  };
}
