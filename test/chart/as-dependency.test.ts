import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testCluster } from '../support/cluster.ts';
import { GO_BUILD_TIMEOUT } from '../support/go-program.ts';
import { CHART, CRD_CHART, objectsOf, podSpecOf, type Rendered } from './chart.ts';
import { HELMS } from './helms.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'boxwright-parent-'));
  mkdirSync(join(parent, 'charts'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const CHARTS = { boxwright: CHART, 'boxwright-crds': CRD_CHART };

interface Dependency {
  name: keyof typeof CHARTS;
  alias?: string;
}

describe.each(HELMS)('the chart as a dependency, Helm $major', { timeout: GO_BUILD_TIMEOUT }, (helm) => {
  async function render(
    dependencies: readonly Dependency[],
    values: object,
    release = 'x',
  ): Promise<{ objects: Rendered[]; refused: string }> {
    const chart = {
      apiVersion: 'v2',
      name: 'parent',
      version: '1.0.0',
      dependencies: dependencies.map((dependency) => ({
        ...dependency,
        version: '>=0.0.0-0',
        repository: `file://charts/${dependency.name}`,
        condition: `${dependency.alias ?? dependency.name}.enabled`,
      })),
    };
    writeFileSync(join(parent, 'Chart.yaml'), JSON.stringify(chart));
    for (const name of new Set(dependencies.map((dependency) => dependency.name))) {
      const place = join(parent, 'charts', name);
      if (!existsSync(place)) symlinkSync(CHARTS[name], place);
    }
    const args = ['template', release, parent, '--namespace', 'apps', '--kube-version', '1.36.0'];
    const program = await helm.program(testCluster());
    const { code, stdout, stderr } = await program([...args, '--values', '-'], {
      input: JSON.stringify(values),
    });
    return { objects: code === 0 ? objectsOf(stdout) : [], refused: code === 0 ? '' : stderr };
  }

  // B9
  it('takes a condition and global values, and does without whole sections', async () => {
    const both: readonly Dependency[] = [{ name: 'boxwright' }, { name: 'boxwright-crds' }];
    const { objects, refused } = await render(both, switched(true));
    expect(refused).toBe('');
    const kinds = objects.map(({ kind }) => kind);
    expect(kinds).toContain('Deployment');
    expect(kinds.filter((kind) => kind === 'CustomResourceDefinition')).toHaveLength(5);
    expect(await render(both, switched(false))).toEqual({ objects: [], refused: '' });
  });

  describe('twice under different names', () => {
    const TWICE: readonly Dependency[] = [
      { name: 'boxwright', alias: 'eu' },
      { name: 'boxwright', alias: 'us' },
    ];
    const VALUES = {
      eu: { namespaces: ['shop-eu'] },
      us: { namespaces: ['shop-us'], crds: { enabled: false } },
    };

    it.each(['x', 'eu', 'eu-us', 'a-name-of-a-release-that-is-as-long-as-helm-takes-it'])(
      'makes two operators that share no object and no pod: release %s',
      async (release) => {
        const { objects, refused } = await render(TWICE, VALUES, release);
        expect(refused).toBe('');
        const names = objects.map(
          ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''} ${metadata.name}`,
        );
        expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
        const [eu, us] = objects
          .filter(({ kind }) => kind === 'Deployment')
          .map(({ spec }) => spec as { selector: { matchLabels: Record<string, string> } })
          .map(({ selector }) => selector.matchLabels);
        expect(eu).not.toEqual(us);
      },
    );

    it('lets each of them work: each has a leader lease of its own, and may take it', async () => {
      const { objects } = await render(TWICE, VALUES);
      const leases = objects
        .filter(({ kind }) => kind === 'Deployment')
        .map((deployment) => podSpecOf(deployment).containers[0]?.env)
        .map((env) => env?.find(({ name }) => name === 'BOXWRIGHT_LEADER_LEASE_NAME')?.value);
      expect(leases).toEqual(['boxwright-operator-eu', 'boxwright-operator-us']);
      const allowed = objects
        .filter(({ kind }) => kind === 'Role')
        .flatMap(({ rules = [] }) => rules)
        .filter(({ resources, verbs }) => resources?.includes('leases') === true && verbs.includes('update'))
        .flatMap(({ resourceNames = [] }) => resourceNames);
      expect(allowed).toEqual(leases);
    });

    it('refuses what two operators of one namespace would do to each other', async () => {
      const values = { ...VALUES, us: { ...VALUES.us, secrets: { keepForDeletion: true } } };
      const { refused } = await render(TWICE, values);
      expect(refused).toContain('secrets.keepForDeletion: us is an alias');
    });
  });
});

/** Values that switch both charts, and take sections away. */
function switched(enabled: boolean): object {
  return {
    global: { domain: 'example.com' },
    boxwright: { enabled, networkPolicy: null, resources: null, crds: { enabled: false } },
    'boxwright-crds': { enabled, crds: null },
  };
}
