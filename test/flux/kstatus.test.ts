import { Environment } from '@marcbachmann/cel-js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { KINDS } from '../../src/api/kinds.ts';
import { ROOT } from '../api/install.ts';
import { REASONS } from '../../src/api/reasons.ts';
import { captureObjects, type Captured } from '../support/captured.ts';
import { CONNECTION, World } from '../support/world.ts';
import { buildGoProgram, GO_BUILD_TIMEOUT, HAS_GO, type GoProgram } from '../support/go-program.ts';

type Status = 'Current' | 'InProgress' | 'Failed' | 'Terminating';

interface HealthCheckExpr {
  apiVersion: string;
  kind: string;
  inProgress: string;
  failed: string;
  current: string;
}

let captured: Captured[];
beforeAll(async () => {
  captured = await captureObjects();
}, 120_000);

// gitops checklist G03, G05, G06, G09 and G10: on what the operator wrote in a story of every kind and phase.
describe('status', () => {
  it('has conditions of the one shape, each of the generation that it speaks of', () => {
    for (const { object } of captured) {
      for (const condition of object.status?.conditions ?? []) {
        expect(Object.keys(condition).toSorted()).toEqual(
          ['lastTransitionTime', 'message', 'observedGeneration', 'reason', 'status', 'type'].toSorted(),
        );
        expect(condition.observedGeneration).toBeLessThanOrEqual(object.status?.observedGeneration ?? -1);
      }
    }
  });

  it('has Reconciling and Stalled only while True, and never both', () => {
    const abnormal = captured.map(({ object }) =>
      (object.status?.conditions ?? []).filter(({ type }) => type === 'Reconciling' || type === 'Stalled'),
    );
    expect(abnormal.filter((all) => all.length > 1)).toEqual([]);
    expect(abnormal.flat().filter(({ status }) => status !== 'True')).toEqual([]);
  });

  it('gives reasons of the closed list, and messages in which nothing moves', () => {
    const all = captured.flatMap(({ object }) => object.status?.conditions ?? []);
    expect(all.filter(({ reason }) => !Object.hasOwn(REASONS, reason))).toEqual([]);
    const moving = /\d{4}-\d\d-\d\d|\d\d:\d\d|[0-9a-f]{8}-[0-9a-f]{4}-/;
    expect(all.map(({ message }) => message).filter((message) => moving.test(message))).toEqual([]);
  });

  it('stays far below 20 kB, with sorted conditions', () => {
    for (const { object } of captured) {
      expect(JSON.stringify(object.status ?? {}).length).toBeLessThan(10_000);
      const types = (object.status?.conditions ?? []).map(({ type }) => type);
      expect(types).toEqual(types.toSorted());
    }
  });

  it('takes note of a new generation within five seconds while the service is silent', async () => {
    const world = new World();
    world.start();
    await world.apply(CONNECTION);
    await world.apply(BOX);
    await world.until(() => world.ready('Box', 'plain') === 'True');
    world.sandbox.admin.addFault({ match: {}, hang: 'before' });
    await world.edit('Box', 'plain', { description: 'new' });
    await world.advance(6_000);
    const { metadata, status } = world.get('Box', 'plain') ?? {};
    expect(status?.observedGeneration).toBe(metadata?.generation);
    expect(world.condition('Box', 'plain', 'Ready')?.status).toBe('False');
    world.kill();
  });
});

const BOX = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: plain}
spec: {connectionRef: {name: main}, requirements: [Linux]}
`;

// gitops checklist G02, G23, G24, G25 and G30: what Flux, Helm 4 and kpt make of our objects.
describe.skipIf(!HAS_GO)('the status library that GitOps tools share', () => {
  let kstatus: GoProgram;
  let said: string[];

  beforeAll(async () => {
    kstatus = await buildGoProgram(join(import.meta.dirname, 'kstatus'));
    said = await statusOf(captured.map(({ object }) => object));
  }, GO_BUILD_TIMEOUT);
  afterAll(() => kstatus?.[Symbol.dispose]());

  async function statusOf(objects: readonly object[]): Promise<string[]> {
    const answers = await kstatus.ask<{ status: string }[]>(objects);
    return answers.map(({ status }) => status);
  }

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

function named(words: readonly string[]): string[] {
  return words.map((word, at) => `${captured[at]?.name}: ${word}`);
}

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
