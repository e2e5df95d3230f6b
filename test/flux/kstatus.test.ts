import { Environment } from '@marcbachmann/cel-js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS } from '../../src/api/kinds.ts';
import { ROOT } from '../api/install.ts';
import { captureObjects, type Captured } from '../support/captured.ts';
import { buildGoProgram, GO_BUILD_TIMEOUT, HAS_GO, type GoProgram } from '../support/go-program.ts';

type Status = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

interface HealthCheckExpr {
  apiVersion: string;
  kind: string;
  inProgress: string;
  failed: string;
  current: string;
}

// gitops checklist G02, G23, G24, G25 and G30: what Flux, Helm 4 and kpt make of our objects.
describe.skipIf(!HAS_GO)('the status library that GitOps tools share', () => {
  let kstatus: GoProgram;
  let captured: Captured[];
  let said: string[];

  beforeAll(async () => {
    kstatus = await buildGoProgram(join(import.meta.dirname, 'kstatus'));
    captured = await captureObjects();
    said = await statusOf(captured.map(({ object }) => object));
  }, GO_BUILD_TIMEOUT);
  afterAll(() => kstatus?.[Symbol.dispose]());

  async function statusOf(objects: readonly object[]): Promise<string[]> {
    const answers = await kstatus.ask<{ status: string }[]>(objects);
    return answers.map(({ status }) => status);
  }
  const named = (words: readonly string[]): string[] =>
    words.map((word, at) => `${captured[at]?.name}: ${word}`);

  it('says of each object at each phase what a person would', () => {
    expect(named(said)).toEqual(named(captured.map(({ object }) => expected(object))));
    expect(new Set(said)).toEqual(new Set(['Current', 'InProgress', 'Failed', 'Terminating']));
  });

  it('takes an object that no operator has seen for one in progress', () => {
    const fresh = captured.filter(({ object }) => object.status?.observedGeneration === -1);
    expect(new Set(fresh.map(({ object }) => object.kind))).toEqual(new Set(KINDS.map(({ kind }) => kind)));
    expect(fresh.map((one) => said[captured.indexOf(one)])).toEqual(fresh.map(() => 'InProgress'));
  });

  it('never takes an outage, a missing reference or a missing Secret for a failure', () => {
    const passing = captured.filter(({ object }) =>
      object.status?.conditions?.some(({ reason }) =>
        /^(ServiceUnavailable|Throttled|Unknown|WaitingFor\w+)$/.test(reason),
      ),
    );
    expect(passing.length).toBeGreaterThan(10);
    expect(passing.filter((one) => said[captured.indexOf(one)] === 'Failed')).toEqual([]);
  });

  it('says the same in every order of the conditions', async () => {
    const turned = captured.map(({ object }) => ({
      ...object,
      status: { ...object.status, conditions: object.status?.conditions?.toReversed() },
    }));
    expect(named(await statusOf(turned))).toEqual(named(said));
  });

  it('agrees with the expressions for health checks that go with us', () => {
    const file = readFileSync(join(ROOT, 'deploy/flux/health-checks/health-check-exprs.yaml'), 'utf8');
    const { spec } = parse(file) as { spec: { healthCheckExprs: HealthCheckExpr[] } };
    expect(named(captured.map(({ object }) => byExpressions(spec.healthCheckExprs, object)))).toEqual(
      named(said),
    );
  });
});

/** What a person would say who has read the reference. */
function expected({ metadata, status }: Captured['object']): Status {
  const is = (type: string): boolean =>
    status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (status?.observedGeneration !== metadata.generation) return 'InProgress';
  if (is('Stalled')) return 'Failed';
  return is('Ready') && !is('Reconciling') ? 'Current' : 'InProgress';
}

/** The order in which Flux evaluates expressions (its RFC 0009), after its own look at the generation. */
function byExpressions(all: readonly HealthCheckExpr[], object: Captured['object']): Status {
  if (object.metadata.deletionTimestamp !== undefined) return 'Terminating';
  if (object.status?.observedGeneration !== object.metadata.generation) return 'InProgress';
  const found = all.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind);
  if (found === undefined) throw new Error(`no expressions for ${object.kind}`);
  const holds = (expression: string): boolean =>
    new Environment().registerVariable('status', 'map').evaluate(expression, { status: object.status }) ===
    true;
  if (holds(found.inProgress)) return 'InProgress';
  if (holds(found.failed)) return 'Failed';
  return holds(found.current) ? 'Current' : 'InProgress';
}
