import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { settle } from '../../src/base/virtual-clock.ts';
import { ok, startFixture, type Fixture } from '../../src/sandbox/fixture.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'boxwright-scripts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Virtual time runs far ahead of what a script really takes: no script here is to run out of it. */
const NO_LIMIT_MS = 24 * 3_600_000;

const real = (): Promise<Fixture> =>
  startFixture({ data: folder, runScripts: true, scriptTimeoutMs: NO_LIMIT_MS });

/** Lets virtual time and real scripts go on until the instance is no longer processing. */
async function until({ call, clock }: Fixture, uri: string, state: string): Promise<Record<string, never>> {
  for (;;) {
    await clock.advance(500);
    const { body } = await call('GET', uri);
    if (body.state === state) return body;
    if (body.state !== 'processing') throw new Error(`${uri} is ${body.state}, not ${state}`);
    await settle(20);
  }
}

const machineFolder = (instance: { id: string; service: { id: string } }): string =>
  join(folder, 'machines', instance.id, `${instance.service.id}-1`);

test('runs scripts with the variables of their box in the directory of the machine', async () => {
  const fixture = await real();
  const { call, deployable, deploy, upload } = fixture;
  const conf = await upload('web.conf', 'listen 80\n');
  const boxes = await deployable(
    {
      install: 'mkdir -p opt && echo installed > opt/state',
      configure:
        'echo "port $PORT in $INSTANCE_NAME"; cat "$CONF"; echo "home $HOME" >&2; env | grep -c SERVICE_TOKEN',
      start: 'exit 0',
    },
    {
      variables: [
        { name: 'PORT', type: 'Port', value: '80', required: true, visibility: 'public' },
        { name: 'CONF', type: 'File', value: conf.url, required: false, visibility: 'public' },
      ],
    },
  );
  const variables = [{ name: 'PORT', value: '8080' }];
  const created = await deploy(boxes, { name: 'web', box: { id: boxes.box.id, variables } });
  // grep -c finds nothing and says so with 1: the environment is clean.
  const failed = await until(fixture, created.uri, 'unavailable');
  expect(failed).toMatchObject({ operation: { event: 'deploy' } });
  const home = machineFolder(created);
  expect(readFileSync(join(home, 'opt/state'), 'utf8')).toBe('installed\n');
  const log = (await call('GET', `${created.uri}/machine_logs?event=configure`)).body;
  expect(log).toBe(`port 8080 in web\nlisten 80\nhome ${home}\n0\n`);
  await fixture.sandbox.stop();
});

test('puts a script at its destination and keeps it inside the machine', async () => {
  const fixture = await real();
  const { call, deployable, deploy, upload } = fixture;
  const boxes = await deployable();
  const events = {
    install: { ...(await upload('i', 'exit 0')), destination_path: '/opt/setup.sh' },
    start: { ...(await upload('s', 'exit 0')), destination_path: '../../../../outside.sh' },
  };
  await ok(call('PUT', boxes.box.uri, { ...boxes.box, events }));
  const created = await deploy(boxes);
  await until(fixture, created.uri, 'done');
  expect(existsSync(join(machineFolder(created), 'opt/setup.sh'))).toBe(true);
  expect(existsSync(join(folder, 'outside.sh'))).toBe(false);
  await fixture.sandbox.stop();
});

test('output that is cut off takes no room on the disk while the script goes on', async () => {
  const fixture = await real();
  const { call, clock, deployable, deploy } = fixture;
  const install = 'head -c 3000000 /dev/zero; touch printed; until [ -e go ]; do sleep 0.02; done; echo end';
  const created = await deploy(await deployable({ install }));
  const home = machineFolder(created);
  const room = (): number => statSync(join(home, '.output-1')).blocks * 512;
  const printed = async (): Promise<boolean> => {
    await clock.advance(100);
    await settle(20);
    return existsSync(join(home, 'printed'));
  };
  while (!(await printed()));
  await clock.advance(1000);
  expect(room()).toBeLessThan(1_100_000);
  writeFileSync(join(home, 'go'), '');
  await until(fixture, created.uri, 'done');
  const { body } = await call('GET', `${created.uri}/machine_logs?event=install`);
  expect(body.length).toBe(1_000_001);
  await fixture.sandbox.stop();
});

test('ends a script that takes too long, with everything that it started', async () => {
  const fixture = await startFixture({ data: folder, runScripts: true, scriptTimeoutMs: 60_000 });
  const { call, clock, deployable, deploy } = fixture;
  const created = await deploy(await deployable({ install: 'sleep 1000 & echo $! > pid; wait' }));
  await clock.advance(4000);
  const pidFile = join(machineFolder(created), 'pid');
  while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await settle();
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await clock.advance(60_000);
  await until(fixture, created.uri, 'unavailable');
  const activity = await ok(call('GET', `${created.uri}/activity`));
  expect(activity.at(-1)).toMatchObject({ exit_code: 137, text: expect.stringContaining('out of time') });
  await ended(pid);
  await fixture.sandbox.stop();
});

test('what a script leaves running ends with the instance, or with the sandbox', async () => {
  const fixture = await real();
  const { call, deployable, deploy } = fixture;
  const daemon = 'sleep 1000 & echo $! > pid';
  const boxes = await deployable({ start: daemon });
  const pids: number[] = [];
  const uris: string[] = [];
  for (let n = 0; n < 2; n++) {
    const created = await deploy(boxes);
    await until(fixture, created.uri, 'done');
    pids.push(Number(readFileSync(join(machineFolder(created), 'pid'), 'utf8')));
    uris.push(created.uri);
  }
  const [first = 0, second = 0] = pids;
  expect([alive(first), alive(second)]).toEqual([true, true]);
  await ok(call('DELETE', `${uris[0]}?operation=terminate`));
  await until(fixture, uris[0] ?? '', 'done');
  await ended(first);
  expect(alive(second)).toBe(true);
  await fixture.sandbox.stop();
  await ended(second);
});

test('a script that has ended leaves nothing of its own running', async () => {
  const fixture = await real();
  const { deployable, deploy } = fixture;
  const script = 'ps -o pgid= -p $$ > group';
  const created = await deploy(await deployable({ start: script }));
  await until(fixture, created.uri, 'done');
  const group = Number(readFileSync(join(machineFolder(created), 'group'), 'utf8'));
  expect(group).toBeGreaterThan(0);
  await ended(-group);
  await fixture.sandbox.stop();
});

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A killed process that nobody has waited for yet still answers.
  const status = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return !/\) Z /.test(status);
}

async function ended(pid: number): Promise<void> {
  while (alive(pid)) await settle();
}
