import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, matchesGlob } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { usesOf } from './pin-actions.ts';

interface Job {
  permissions?: Record<string, string>;
  'timeout-minutes'?: number;
  'runs-on': string;
  steps: { uses?: string; run?: string; with?: Record<string, unknown> }[];
}

interface Workflow {
  on: Record<string, unknown>;
  permissions?: Record<string, string>;
  jobs: Record<string, Job>;
}

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, '.github/workflows');
const workflows = readdirSync(FOLDER).map((name) => {
  const text = readFileSync(join(FOLDER, name), 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});

describe.each(workflows)('$name', ({ name, text, workflow }) => {
  const jobs = Object.values(workflow.jobs);

  test('reads only, unless a job of the release publishes', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const writing = jobs.filter(({ permissions = {} }) => Object.values(permissions).includes('write'));
    expect(writing.length === 0 || name === 'release.yaml').toBe(true);
  });

  test('gives no token to what comes from a fork, and leaves none in the checkout', () => {
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    const checkouts = jobs
      .flatMap(({ steps }) => steps)
      .filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(0);
    for (const step of checkouts) expect(step.with?.['persist-credentials']).toBe(false);
  });

  test('puts nothing that others can write into a script', () => {
    for (const { run } of jobs.flatMap(({ steps }) => steps)) expect(run ?? '').not.toMatch(/\$\{\{/);
  });

  test('ends by itself, on a runner that is named', () => {
    for (const job of jobs) {
      expect(job['timeout-minutes']).toBeLessThanOrEqual(90);
      expect(job['runs-on']).toMatch(/-\d+\.\d+$/);
    }
  });

  test('says of each action which tag is meant, and is pinned or waits for the release script', () => {
    for (const { ref, tag } of usesOf(text)) {
      expect(ref).toMatch(/^([0-9a-f]{40}|unpinned)$/);
      expect(tag).toMatch(/^v\d/);
    }
    const uses = text.split('\n').filter((line) => /^\s*(- )?uses:/.test(line));
    expect(usesOf(text)).toHaveLength(uses.length);
  });

  test('runs only scripts that are there', () => {
    for (const [, script = ''] of text.matchAll(/node (scripts\/[\w-]+\.ts)/g)) {
      expect(readdirSync(join(ROOT, dirname(script)))).toContain(script.replace('scripts/', ''));
    }
  });
});

test('a release is refused while an action is not pinned', () => {
  const release = workflows.find(({ name }) => name === 'release.yaml')?.workflow;
  const check = release?.jobs['check']?.steps.map(({ run }) => run ?? '').join('\n');
  expect(check).toContain('node scripts/pin-actions.ts --check');
  const waits = (name: string): boolean => {
    const { needs } = (release?.jobs[name] ?? {}) as { needs?: string };
    return name === 'check' || (needs !== undefined && waits(needs));
  };
  expect(Object.keys(release?.jobs ?? {}).filter((name) => !waits(name))).toEqual([]);
});

test('dependencies of every kind are kept up to date', () => {
  const { updates } = parse(readFileSync(join(ROOT, '.github/dependabot.yml'), 'utf8')) as {
    updates: { 'package-ecosystem': string; directories?: string[] }[];
  };
  expect(updates.map((one) => one['package-ecosystem'])).toEqual(['npm', 'gomod', 'github-actions']);
  const covered = updates[1]?.directories ?? [];
  const modules = ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => path.endsWith('go.mod'))
    .map((path) => `/${dirname(path)}`);
  expect(modules.length).toBeGreaterThan(2);
  expect(modules.filter((folder) => !covered.some((glob) => matchesGlob(folder, glob)))).toEqual([]);
});
