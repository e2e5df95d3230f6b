import { afterAll, describe, expect, it } from 'vitest';
import { ownKinds } from '../support/fake-kube.ts';
import { enumerate, type EnumerateOptions, type Tally } from './plans.ts';
import { WORKLOADS } from './workloads.ts';

/** One test per workload, and at the end a table of effects, plans and failures. */
export function testEveryEffect(title: string, options: Omit<EnumerateOptions, 'kinds'>): void {
  const tallies: Tally[] = [];
  describe(`Faults: ${title}`, () => {
    const kinds = ownKinds();
    for (const workload of WORKLOADS) {
      it(`ends as if nothing had happened: ${workload.name}`, { timeout: 3_600_000 }, async () => {
        const tally = await enumerate(workload, { kinds, ...options });
        tallies.push(tally);
        expect(tally.plans).toBeGreaterThan(0);
        expect(tally.failures.map(({ plan, said }) => `${plan?.mishap}, ${plan?.label}: ${said}`)).toEqual(
          [],
        );
      });
    }
    afterAll(() => process.stdout.write(tableOf(title, tallies)));
  });
}

function tableOf(title: string, tallies: readonly Tally[]): string {
  const rows = tallies.map(
    ({ workload, effects, plans, failures }) => [workload, effects, plans, failures.length] as const,
  );
  const sum = (at: 1 | 2 | 3): number => rows.reduce((total, row) => total + row[at], 0);
  const all = [...rows, ['in all', sum(1), sum(2), sum(3)] as const];
  return [
    '',
    title,
    line(['workload', 'effects', 'plans', 'failures']),
    ...all.map((row) => line(row)),
    '',
  ].join('\n');
}

function line([name, ...numbers]: readonly (string | number)[]): string {
  return `${String(name).padEnd(48)}${numbers.map((value) => String(value).padStart(10)).join('')}`;
}
