import { describe, expect, it } from 'vitest';
import { crdOf } from '../../../api/crd.ts';
import { kindOf } from '../../../api/kinds.ts';
import { paintFor } from '../../terminal.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import { seen, SHOP } from '../status/test-resource.ts';
import type { Pod } from '../pods.ts';
import { LEADER } from '../test-operator.ts';
import { checkOf, unknown } from './check.ts';
import { complaintsAbout } from './definitions.ts';
import { checkNamespaces, checkOperators } from './operators.ts';
import { checkPods } from './pods.ts';
import { diagnosisLines } from './report.ts';
import { checkAnnotations, checkConnections, checkProgress, checkStalled } from './resources.ts';

const NOW = Date.UTC(2026, 0, 1, 2);

type Container = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];

function pod(container: Container): Pod {
  return { metadata: { name: 'boxwright-1', namespace: 'home' }, status: { containerStatuses: [container] } };
}

function stalled(name: string): WatchedResource {
  const conditions = [{ type: 'Stalled', status: 'True', reason: 'NameTaken', message: '' }];
  return seen('Instance', name, {}, { status: 'False', reason: 'NameTaken' }, { conditions });
}

describe('the check of the operator', () => {
  it('is fine with one that leads and has the version of the program', () => {
    expect(checkOperators({ operators: [LEADER], unproven: [] }, 'boxwright-system')).toMatchObject({
      state: 'Fine',
      found: ['pod-1 leads in namespace boxwright-system and looks after shop.'],
    });
  });

  it('objects where none leads, and tells the last', () => {
    const silent = { ...LEADER, isLive: false };
    const check = checkOperators({ operators: [silent], unproven: [] }, 'boxwright-system');
    expect(check).toMatchObject({ state: 'Wrong' });
    expect(check.found[0]).toContain('pod-1 in namespace boxwright-system renewed its lease last at');
    expect(checkOperators({ operators: [], unproven: [] }, 'boxwright-system').nextSteps).toEqual([
      'Install the chart boxwright.',
    ]);
  });

  it.each([
    [undefined, undefined, 'every namespace'],
    [undefined, ['a', 'b'], 'a, b'],
    [['a', 'shop'], ['shop'], 'shop'],
  ])('objects where two look after the same: %j and %j', (one, other, shared) => {
    const operators = [
      { ...LEADER, namespaces: one },
      { ...LEADER, namespace: 'second', namespaces: other },
    ];
    expect(checkOperators({ operators, unproven: [] }, 'boxwright-system').found).toContain(
      `Two operators look after ${shared}: those in namespaces boxwright-system and second.`,
    );
  });

  it('tells of Leases that nothing bears out, and believes none of them', () => {
    const forged = ['a', 'b', 'c', 'd', 'd'].map((namespace) => ({
      ...LEADER,
      namespace,
      namespaces: undefined,
    }));
    const beside = checkOperators({ operators: [LEADER], unproven: forged }, 'boxwright-system');
    expect(beside).toMatchObject({ state: 'Doubtful' });
    expect(beside.found).toHaveLength(1);
    expect(beside.found[0]).toContain('operators lead in a, b, c and 1 more namespaces');
    const alone = checkOperators({ operators: [], unproven: forged }, 'boxwright-system');
    expect(alone.found[0]).toBe('No operator has ever led here, or its leader election is off.');
    const check = checkNamespaces({ operators: [{ ...LEADER, namespaces: ['x'] }], unproven: forged }, SHOP);
    expect(check).toMatchObject({ state: 'Wrong' });
    expect(check.found[0]).toContain('Nobody looks after namespace shop');
  });

  it('has a doubt about another version', () => {
    expect(checkOperators({ operators: [{ ...LEADER, version: '9.9.9' }], unproven: [] }, '').state).toBe(
      'Doubtful',
    );
  });
});

describe('the check of namespaces', () => {
  it('names one that nobody looks after, and how many resources it has', () => {
    const other = {
      ...seen('Box', 'lost', {}),
      metadata: { ...seen('Box', 'lost', {}).metadata, namespace: 'lost' },
    };
    const check = checkNamespaces({ operators: [LEADER], unproven: [] }, [...SHOP, other]);
    expect(check).toMatchObject({
      state: 'Wrong',
      found: ['Nobody looks after namespace lost, which has 1 of our resources.'],
    });
    expect(checkNamespaces({ operators: [LEADER], unproven: [] }, SHOP).state).toBe('Fine');
    expect(checkNamespaces({ gap: 'your user may not list Leases' }, SHOP).state).toBe('Unknown');
  });
});

describe('the check of definitions', () => {
  const kind = kindOf('Box');
  const there = (): ReturnType<typeof crdOf> => structuredClone(crdOf(kind));

  it('takes those of this version', () => {
    expect(complaintsAbout(kind, there())).toEqual([]);
  });

  it('names the outermost field that an older one lacks', () => {
    const crd = there();
    delete crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties?.['publish'];
    expect(complaintsAbout(kind, crd)).toMatchObject([
      { state: 'Wrong', text: expect.stringMatching(/lacks spec\.publish, which/) as string },
    ]);
  });

  it('has a doubt about a newer one, and objects where there is none', () => {
    const crd = there();
    const fields = crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties ?? {};
    fields['later'] = { type: 'string', description: 'x', maxLength: 1 };
    expect(complaintsAbout(kind, crd)).toMatchObject([
      { state: 'Doubtful', text: expect.stringContaining('spec.later') as string },
    ]);
    expect(complaintsAbout(kind, undefined)).toMatchObject([{ state: 'Wrong' }]);
  });
});

describe('the check of pods', () => {
  it.each([
    [{ ready: true, restartCount: 0 }, 'Fine', '1 of 1 is ready.'],
    [
      { ready: false, state: { waiting: { reason: 'ImagePullBackOff' } } },
      'Wrong',
      'boxwright-1 does not run: ImagePullBackOff.',
    ],
    [
      { ready: true, restartCount: 7, lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } } },
      'Doubtful',
      'boxwright-1 has restarted 7 times, last OOMKilled (exit code 137).',
    ],
  ])('judges %j: %s', (status, state, text) => {
    expect(checkPods('home', [pod(status)])).toMatchObject({ state, found: [text] });
  });

  it('does not know where there is none, or none to be seen', () => {
    expect(checkPods('home', []).state).toBe('Unknown');
    expect(checkPods('home', { gap: 'the API server answers 403' }).state).toBe('Unknown');
  });
});

describe('the checks of resources', () => {
  const rejected = seen(
    'Connection',
    'main',
    {},
    { status: 'False', reason: 'CredentialsRejected', message: 'the service refuses the token' },
  );
  it('say of a connection what is wrong, and what to do', () => {
    expect(checkConnections([rejected])).toMatchObject({
      state: 'Doubtful',
      found: ['Connection/main in namespace shop: CredentialsRejected: the service refuses the token'],
    });
    expect(checkConnections(SHOP).state).toBe('Fine');
  });

  it('gather what waits for a person by its reason, with no more than three names', () => {
    const check = checkStalled(['a', 'b', 'c', 'd', 'e'].map(stalled));
    expect(check.found).toEqual([
      'NameTaken: Instance/a in namespace shop, Instance/b in namespace shop, Instance/c in namespace shop and 2 more.',
    ]);
    expect(check.nextSteps).toHaveLength(1);
  });

  it('find what nobody has looked at, and deletions that last', () => {
    const { status: _, ...unseen } = seen('Box', 'new', {});
    const old = seen('Box', 'old', {});
    const deleting = { ...old, metadata: { ...old.metadata, deletionTimestamp: '2026-01-01T00:30:00Z' } };
    const { found } = checkProgress([unseen, deleting], NOW);
    expect(found).toEqual([
      'No operator has ever looked at Box/new in namespace shop, made more than 2m ago.',
      'Being deleted for more than 1h: Box/old in namespace shop.',
    ]);
    expect(checkProgress([unseen], Date.UTC(2026, 0, 1, 0, 1)).state).toBe('Fine');
  });

  it('name a mistyped annotation with the one that was meant', () => {
    const box = seen('Box', 'web', {});
    const typo = { ...box, metadata: { ...box.metadata, annotations: { 'boxwright.dev/pause': 'true' } } };
    expect(checkAnnotations([typo]).found[0]).toContain('did you mean boxwright.dev/paused?');
  });
});

describe('the report', () => {
  const checks = [
    checkOf('cluster', 'Cluster', [], 'Kubernetes v1.36.3.'),
    unknown('rights', 'Rights of the operator', 'Your user may not ask.'),
    checkOf(
      'pods',
      'Pods',
      [
        { state: 'Wrong', text: 'One does not run.', nextStep: 'Look at it.' },
        { state: 'Wrong', text: 'Another one does not, either.', nextStep: 'Look at it.' },
      ],
      '',
    ),
  ];

  it.each([60, 80, 200])('fits into %i columns and ends with what to do, once', (width) => {
    const paint = paintFor({ write: () => undefined }, {});
    const lines = diagnosisLines('Cluster https://example.com', checks, { width, paint });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
    expect(lines.slice(-2)).toEqual(['What to do', '  - Look at it.']);
    expect(lines).toContain('ok       Cluster: Kubernetes v1.36.3.');
    expect(lines).toContain('         One does not run.');
  });
});
