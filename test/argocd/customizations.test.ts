import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS } from '../../src/api/kinds.ts';
import { GROUP } from '../../src/api/names.ts';
import { PHASES } from '../../src/api/phases.ts';
import { captureObjects, type Captured } from '../support/captured.ts';
import { buildGoProgram, GO_BUILD_TIMEOUT, HAS_GO, type GoProgram } from '../support/go-program.ts';
import {
  CUSTOMIZATIONS,
  readScripts,
  type ActionTest,
  type DiscoveryTest,
  type HealthTest,
} from './layout.ts';

interface Answer {
  results: Record<string, unknown>[] | null;
  runs: number;
  error?: string;
}

interface Case {
  script: string;
  object: unknown;
  permute?: boolean;
  patch?: boolean;
}

const STAMP = '2026-01-01T00:00:00Z';
const NOW = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

// gitops checklist G32, G33 and G42.
describe.skipIf(!HAS_GO)('the customizations of Argo CD, in its interpreter and under its limits', () => {
  const scripts = readScripts();
  let lua: GoProgram;
  let captured: Captured[];

  beforeAll(async () => {
    lua = await buildGoProgram(join(import.meta.dirname, 'lua'));
    captured = await captureObjects();
  }, GO_BUILD_TIMEOUT);
  afterAll(() => lua?.[Symbol.dispose]());

  /** The one result of each case. */
  async function results(cases: readonly Case[]): Promise<Record<string, unknown>[]> {
    const answers = await lua.ask<Answer[]>({ scripts, cases });
    return answers.map(({ results: all, error }, at) => {
      if (error !== undefined) throw new Error(`${cases[at]?.script}: ${error}`);
      expect(all, `${cases[at]?.script} gives one result`).toHaveLength(1);
      return all?.[0] ?? {};
    });
  }

  it('run without string, math, io and a global os, and for a second at most', async () => {
    const cases = ['string', 'math', 'io', 'os', 'debug', 'coroutine'].map((script) => ({
      script,
      object: {},
    }));
    const limits = {
      ...Object.fromEntries(cases.map(({ script }) => [script, `return {there = ${script} ~= nil}`])),
      endless: 'while true do end',
    };
    const asked = { scripts: limits, cases: [...cases, { script: 'endless', object: {} }] };
    const answers = await lua.ask<Answer[]>(asked);
    expect(answers.slice(0, -1).map(({ results: all }) => all)).toEqual(cases.map(() => [{ there: false }]));
    expect(answers.at(-1)?.error).toMatch(/deadline exceeded/);
  });

  it('are there for every kind', () => {
    expect(readdirSync(CUSTOMIZATIONS).toSorted()).toEqual(KINDS.map(({ kind }) => kind).toSorted());
  });

  describe.each(KINDS.map(({ kind }) => kind))('of a %s', (kind) => {
    const folder = join(CUSTOMIZATIONS, kind);
    const read = (...path: string[]): unknown => parse(readFileSync(join(folder, ...path), 'utf8'));

    it('pass the tests that go with them in the layout of Argo CD', async () => {
      const { tests } = read('health_test.yaml') as { tests: HealthTest[] };
      const cases = tests.map(({ inputPath }) => ({ script: `${kind}/health`, object: read(inputPath) }));
      expect(await results(cases)).toEqual(tests.map(({ healthStatus }) => healthStatus));

      const { discoveryTests, actionTests } = read('actions', 'action_test.yaml') as {
        discoveryTests: DiscoveryTest[];
        actionTests: ActionTest[];
      };
      const found = await results(
        discoveryTests.map(({ inputPath }) => ({
          script: `${kind}/discovery`,
          object: read('actions', inputPath),
        })),
      );
      expect(found.map(listed)).toEqual(discoveryTests.map(({ result }) => result));

      const changed = await results(
        actionTests.map(({ action, inputPath }) => ({
          script: `${kind}/${action}`,
          object: read('actions', inputPath),
          patch: true,
        })),
      );
      expect(changed.map(stamped)).toEqual(
        actionTests.map(({ expectedOutputPath }) => read('actions', expectedOutputPath)),
      );
      expect(new Set(actionTests.map(({ action }) => action))).toEqual(new Set(Object.keys(found[0] ?? {})));
    });

    it('are tried on objects that the API server would take', () => {
      const { parse: check } = KINDS.find((definition) => definition.kind === kind) ?? {};
      for (const file of readdirSync(join(folder, 'testdata'))) {
        expect([file, check?.(read('testdata', file))]).toMatchObject([file, { ok: true }]);
      }
    });
  });

  it('say the same of a captured object in every order of its conditions', async () => {
    const cases = captured.map(({ object }) => ({
      script: `${object.kind}/health`,
      object,
      permute: true,
    }));
    const said = (await results(cases)).map(({ status }, at) => `${captured[at]?.name}: ${String(status)}`);
    expect(said).toEqual(captured.map(({ name, object }) => `${name}: ${healthOf(object)}`));
    for (const status of ['Healthy', 'Progressing', 'Degraded', 'Suspended']) {
      expect(said.some((line) => line.endsWith(status))).toBe(true);
    }
  });

  it('are safe on objects that lack status, conditions, messages or annotations', async () => {
    const objects = KINDS.flatMap(({ kind }) =>
      [
        {},
        { status: {} },
        { status: { observedGeneration: 1 } },
        { status: { observedGeneration: 1, conditions: [] } },
        { status: { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'Unknown' }] } },
        { status: { observedGeneration: 1, conditions: [{ type: 'Stranger', status: 'True' }] } },
      ].map((rest) => ({ kind, metadata: { name: 'x', generation: 1 }, ...rest })),
    );
    const health = await results(objects.map((object) => ({ script: `${object.kind}/health`, object })));
    expect(health.map(({ status }) => status)).toEqual(objects.map(() => 'Progressing'));
    await results(objects.map((object) => ({ script: `${object.kind}/discovery`, object })));
    const looked = objects.map((object) => ({ script: `${object.kind}/reconcile`, object, patch: true }));
    for (const { metadata } of (await results(looked)) as { metadata: { annotations: object } }[]) {
      expect(metadata.annotations).toEqual({ [`${GROUP}/requested-at`]: expect.stringMatching(NOW) });
    }
  });

  it('offer on each captured object only what makes sense, and change nothing else with it', async () => {
    const found = (
      await results(captured.map(({ object }) => ({ script: `${object.kind}/discovery`, object })))
    ).map(listed);
    const enabled = captured.flatMap(({ object }, at) =>
      (found[at] ?? []).filter(({ disabled }) => !disabled).map(({ name }) => ({ name, object })),
    );
    const changed = await results(
      enabled.map(({ name, object }) => ({ script: `${object.kind}/${name}`, object, patch: true })),
    );
    for (const [at, after] of changed.entries()) {
      const { object: before } = enabled[at] as (typeof enabled)[number];
      const { spec, metadata, ...rest } = after as unknown as Captured['object'];
      expect(rest).toEqual({ apiVersion: before.apiVersion, kind: before.kind, status: before.status });
      expect({ spec, metadata }).not.toEqual({ spec: before.spec, metadata: before.metadata });
      expect({ ...metadata, annotations: 0 }).toEqual({ ...before.metadata, annotations: 0 });
    }
    const offered = captured.map(({ name, object }, at) => ({
      name,
      object,
      names: (found[at] ?? []).flatMap((one) => (one.disabled ? [] : [one.name])),
    }));
    const going = offered.filter(({ object }) => object.metadata.deletionTimestamp !== undefined);
    const paused = offered.filter((one) => !going.includes(one) && isPaused(one.object));
    const others = offered.filter((one) => !going.includes(one) && !paused.includes(one));
    expect(going.map(({ names }) => names)).toEqual(going.map(() => ['reconcile']));
    expect(paused.map(({ names }) => names)).toEqual(paused.map(() => ['resume']));
    expect(others.filter(({ names }) => names.includes('resume'))).toEqual([]);
  });

  it('are tried at every phase that the operator reports', () => {
    const seen = new Set(captured.map(({ object }) => object.status?.['phase']).filter(Boolean));
    // An Instance without a record has no phase yet: Pending is what a person calls that.
    expect(PHASES.filter((phase) => phase !== 'Pending' && !seen.has(phase))).toEqual([]);
  });
});

function listed(actions: Record<string, unknown>): DiscoveryTest['result'] {
  return Object.entries(actions as Record<string, object>)
    .map(([name, facts]) => ({ name, ...facts }) as DiscoveryTest['result'][number])
    .toSorted((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name));
}

/** A table of Lua has no order; the tests of the layout have that of the menu. */
const ORDER = 'reconcile pause resume start stop reinstall reconfigure redeploy renew'.split(' ');

/** With the stamp of the layout's tests in the place of the present. */
function stamped(object: Record<string, unknown>): unknown {
  const { annotations } = object['metadata'] as { annotations?: Record<string, string> };
  for (const [name, value] of Object.entries(annotations ?? {})) {
    if (annotations !== undefined && NOW.test(value)) annotations[name] = STAMP;
  }
  return object;
}

function isPaused({ spec, metadata }: Captured['object']): boolean {
  return spec['paused'] === true || metadata.annotations?.['boxwright.dev/paused'] === 'true';
}

/** What a person would say who has read the guide. */
function healthOf(object: Captured['object']): string {
  const { metadata, status } = object;
  const is = (type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  if (metadata.deletionTimestamp !== undefined) return 'Progressing';
  if (status?.observedGeneration !== metadata.generation) return 'Progressing';
  if (isPaused(object)) return 'Suspended';
  if (is('Stalled')) return 'Degraded';
  return is('Ready') && !is('Reconciling') ? 'Healthy' : 'Progressing';
}
