import { beforeAll, describe, expect, it } from 'vitest';
import { testCluster } from '../support/cluster.ts';
import { GO_BUILD_TIMEOUT, HAS_GO } from '../support/go-program.ts';
import { CHART, CRD_CHART, EVERYTHING, objectsOf, type Rendered } from './chart.ts';
import { HELMS, type HelmProgram } from './helms.ts';

const VALUES: readonly [name: string, values: object][] = [
  ['defaults', {}],
  ['everything on', EVERYTHING],
  ['named namespaces', { ...EVERYTHING, namespaces: ['shop', 'lab'] }],
  ['the CRDs elsewhere', { crds: { enabled: false } }],
];

const programs = new Map<number, HelmProgram>();
beforeAll(async () => {
  const cluster = testCluster();
  for (const { major, program } of HELMS) programs.set(major, await program(cluster));
}, GO_BUILD_TIMEOUT);

async function helm(major: number, args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = (await programs.get(major)?.(args, { input })) ?? { code: -1, stderr: '' };
  if (code !== 0 || stdout === undefined) throw new Error(`helm ${args.join(' ')}: ${stderr}`);
  return stdout;
}

function render(major: number, values: object): Promise<string> {
  // Each takes its own Kubernetes version for the newest one.
  const args = [
    'template',
    'boxwright',
    CHART,
    '--namespace',
    'boxwright-system',
    '--kube-version',
    '1.36.0',
  ];
  return helm(major, [...args, '--values', '-'], JSON.stringify(values));
}

describe.runIf(HAS_GO)('Helm 3', () => {
  it('is version 3, and the other version 4', async () => {
    expect(await helm(3, ['version', '--short'])).toMatch(/^v3\./);
    expect(await helm(4, ['version', '--short'])).toMatch(/^v4\./);
  });

  it('has no objection to the charts', async () => {
    const lint = ['lint', '--strict', CHART, CRD_CHART];
    expect(await helm(3, lint)).toContain('2 chart(s) linted, 0 chart(s) failed');
  });

  it.each(VALUES)('renders the same twice: %s', async (_, values) => {
    expect(await render(3, values)).toBe(await render(3, values));
  });

  it.each(VALUES)('renders what Helm 4 renders: %s', async (_, values) => {
    const [old, current] = await Promise.all([render(3, values), render(4, values)]);
    expect(sorted(old)).toEqual(sorted(current));
  });
});

/** Helm 3 and Helm 4 print in different orders. */
function sorted(text: string): Rendered[] {
  return objectsOf(text).toSorted((one, other) => name(one).localeCompare(name(other)));
}

function name({ kind, metadata }: Rendered): string {
  return `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
}
