/**
 * Runs a command of this project on a fresh clone: `node scripts/run.mjs <command> [arguments]`.
 *
 * Installs what package-lock.json says when node_modules is missing or out of step with it, puts
 * node_modules/.bin first on PATH (there is the Node that the project runs on), runs the command and ends as
 * it ended. Has no dependencies and works on Node 20, which is all that a fresh clone may count on.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const OLDEST_NODE = 20;
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const bin = join(root, 'node_modules', '.bin');

async function main() {
  const [command, ...args] = process.argv.slice(2);
  if (command === undefined) fail('usage: node scripts/run.mjs <command> [arguments]');
  if (Number(process.versions.node.split('.')[0]) < OLDEST_NODE) {
    fail(
      `Node ${process.versions.node} is too old: install Node ${OLDEST_NODE} or newer (https://nodejs.org)`,
    );
  }
  const difference = outOfStep();
  if (difference !== undefined) await install(difference);
  const ended = await runToEnd(command, args, {
    ...process.env,
    PATH: [bin, ...searchPath()].join(delimiter),
  });
  end(ended);
}

/** Why node_modules is not what package-lock.json says, or undefined when it is. */
function outOfStep() {
  const installed = packagesOf(join(root, 'node_modules', '.package-lock.json'));
  if (installed === undefined) return 'nothing is installed yet';
  if (!existsSync(join(bin, 'node'))) return 'the Node of this project is not installed';
  const wanted = packagesOf(join(root, 'package-lock.json'));
  if (wanted === undefined) fail('package-lock.json is missing: get a complete checkout');
  for (const [path, { version, integrity, optional }] of Object.entries(wanted)) {
    const found = installed[path];
    // npm leaves out what is optional and made for other systems.
    if (path === '' || (optional && found === undefined)) continue;
    if (found?.version !== version || found?.integrity !== integrity) {
      return `${path.replace('node_modules/', '')} is not the one in package-lock.json`;
    }
  }
  return undefined;
}

function packagesOf(lockFile) {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')).packages;
  } catch {
    // Missing, or cut off while it was written: either way there is nothing to go by.
    return undefined;
  }
}

async function install(reason) {
  const start = process.hrtime.bigint();
  say(`installing the packages of package-lock.json, because ${reason} ...`);
  // npm must not run on the Node that it is about to replace. (Its warnings are about that Node being older
  // than what the packages want, which is what the one it installs is for.)
  const env = { ...process.env, PATH: searchPath().join(delimiter) };
  const { code, error } = await runToEnd('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], env);
  if (error) fail(`npm cannot be run (${error.message}): install npm, it comes with Node`);
  if (code !== 0) fail('npm ci failed, see above');
  const still = outOfStep();
  if (still !== undefined) {
    fail(`after npm ci ${still}: does your npm skip install scripts (npm config get ignore-scripts)?`);
  }
  say(`installed in ${Number((process.hrtime.bigint() - start) / 1_000_000_000n)} s`);
}

/** PATH without what npm put in front of it for this project. */
function searchPath() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && resolve(folder) !== bin);
}

function runToEnd(command, args, env) {
  return new Promise((done) => {
    const forward = (signal) => {
      // From a terminal, ^C has reached the child already.
      if (signal === 'SIGINT' && process.stdin.isTTY) return;
      child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    // Before the child is there: one that comes meanwhile is heard afterwards, and does not leave it an orphan.
    for (const signal of signals) process.on(signal, forward);
    const child = spawn(command, args, { cwd: root, env, stdio: 'inherit' });
    const finish = (ended) => {
      for (const signal of signals) process.off(signal, forward);
      done(ended);
    };
    child.once('error', (error) => finish({ code: 127, signal: null, error }));
    child.once('exit', (code, signal) => finish({ code, signal }));
  });
}

function end({ code, signal, error }) {
  if (error) fail(error.message);
  process.exit(signal === null ? code : 128 + (constants.signals[signal] ?? 0));
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function fail(text) {
  say(`boxwright: ${text}`);
  process.exit(1);
}

await main();
