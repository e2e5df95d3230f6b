import { systemClock } from '../../../src/base/clock.ts';
import { startControlPlane, streamProgress } from '../../../src/devcluster/index.ts';
import type { KubeObject, ResourceType } from '../../../src/kube/index.ts';
import { eventually } from '../../support/eventually.ts';
import { typeOfKind } from '../../support/world.ts';
import { applyKinds, Bench, CRD_TYPE } from '../bench.ts';
import { cpuSecondsOf } from '../cpu.ts';
import { percentile } from '../rows.ts';
import { PLAIN, PLAIN_DEFINITION, plainly } from './plain.ts';
import { recordKinds, type RecordedWrite } from './recording.ts';

/** Writes under way at the same time. */
const WRITERS = 16;

/** One thing that is measured: a kind and what is written to each object of it. */
interface Subject {
  name: string;
  type: ResourceType;
  manifest: object;
  writes: readonly RecordedWrite[];
}

export interface KindsOptions {
  /** Objects of each kind in a round. */
  objects: number;
  rounds: number;
  say: (text: string) => void;
  /** Only these kinds beside the plain one. */
  only?: readonly string[];
}

export interface KindCost {
  name: string;
  writesPerObject: number;
  /** CPU of the API server for one write, milliseconds, of each round. */
  cpuMs: readonly number[];
}

/**
 * What a write to each kind costs the API server in CPU time, beside a kind of one field: the writes that the
 * operator makes from apply to settled, replayed to many objects, kinds in turn, on a control plane of its own
 * without audit log. CPU time of its process is robust against what else the machine does.
 */
export async function measureKinds(options: KindsOptions): Promise<KindCost[]> {
  const recordings = await recordKinds();
  const cluster = await startControlPlane({
    env: process.env,
    clock: systemClock,
    progress: streamProgress(process.stderr, systemClock),
    auditLog: false,
  });
  try {
    const bench = await Bench.open(cluster.kubeconfigPath);
    try {
      await applyKinds(bench);
      await bench.client.apply(CRD_TYPE, PLAIN_DEFINITION, { force: true });
      const subjects = [...subjectsOf(recordings)].filter(
        ({ name }) => options.only === undefined || name === PLAIN.kind || options.only.includes(name),
      );
      for (const { type } of subjects) {
        await eventually(`${type.plural} are served`, async () => {
          await bench.client.list(type, { namespace: bench.namespace });
          return true;
        });
      }
      const cpu = (): number => cpuSecondsOf(cluster.pidOf('kube-apiserver'));
      await quiet(cpu);
      const costs = subjects.map(({ name, writes }) => ({
        name,
        writesPerObject: writes.length,
        cpuMs: [] as number[],
      }));
      // The first round warms up: connections, code paths, the heap.
      for (let round = 0; round <= options.rounds; round++) {
        for (const [index, subject] of subjects.entries()) {
          const names = Array.from({ length: options.objects }, (_, i) => `r${round}-${i}`);
          await inParallel(names, (name) => bench.client.create(subject.type, named(subject.manifest, name)));
          const before = cpu();
          await inParallel(names, async (name) => {
            for (const { subresource, patch } of subject.writes) {
              await bench.client.mergePatch(
                subject.type,
                { namespace: bench.namespace, name },
                patch,
                subresource === undefined ? {} : { subresource },
              );
            }
          });
          const perWrite = ((cpu() - before) * 1_000) / (names.length * subject.writes.length);
          if (round > 0) costs[index]?.cpuMs.push(perWrite);
        }
        options.say(`  round ${round} of ${options.rounds}`);
      }
      return costs;
    } finally {
      await bench.stop();
    }
  } finally {
    await cluster.stop();
  }
}

function* subjectsOf(recordings: Awaited<ReturnType<typeof recordKinds>>): Generator<Subject> {
  const model = recordings.find(({ kind }) => kind === 'Instance');
  yield {
    name: PLAIN.kind,
    type: PLAIN,
    manifest: { spec: { value: 'one' } },
    writes: plainly(model?.writes ?? []),
  };
  for (const { kind, manifest, writes } of recordings) {
    yield { name: kind, type: typeOfKind(kind), manifest, writes };
  }
}

function named(manifest: object, name: string): KubeObject {
  return { ...manifest, metadata: { name, namespace: 'default' } };
}

/** A new definition makes the API server work on its descriptions for a while. */
async function quiet(cpu: () => number): Promise<void> {
  let last = cpu();
  await eventually(
    'the API server has nothing to do',
    () => {
      const now = cpu();
      const isQuiet = now - last < 0.06;
      last = now;
      return isQuiet;
    },
    { timeoutMs: 300_000, everyMs: 2_000 },
  );
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: WRITERS }, worker));
}

/** The costs as a table for people: beside the plain kind, by the median of the rounds. */
export function tableOfKinds(costs: readonly KindCost[]): string {
  const plain = costs.find(({ name }) => name === PLAIN.kind);
  const rows = costs.map(({ name, writesPerObject, cpuMs }) => {
    const median = percentile(cpuMs, 0.5);
    const ratios = cpuMs.map((ms, round) => ms / (plain?.cpuMs[round] ?? Number.NaN));
    const of = (share: number): string => percentile(ratios, share).toFixed(2);
    return [
      name,
      String(writesPerObject),
      median.toFixed(2),
      (1_000 / median).toFixed(0),
      `${of(0.5)} (${Math.min(...ratios).toFixed(2)}–${of(1)})`,
    ];
  });
  const head = ['kind', 'writes each', 'CPU ms a write', 'writes per CPU second', 'beside one field'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
