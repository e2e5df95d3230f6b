import { HELD_FOR, type MemoryBudget } from '../../base/memory-budget.ts';
import type { MetricDefinition, Metrics } from '../../kube/index.ts';

/** The metrics of the budget for memory. */
export const MEMORY_METRICS = {
  budget: {
    name: 'boxwright_memory_budget_bytes',
    type: 'gauge',
    help: 'Memory that everything from outside may take, a share of the heap’s limit; one namespace may take a third of it.',
    labels: [],
  },
  held: {
    name: 'boxwright_memory_held_bytes',
    type: 'gauge',
    help: 'Memory of the budget that is taken, by use: answers (while they arrive and are in hand), lists (kept for those who share them), contents (of ConfigMaps and Secrets). In bytes of the heap, estimated from bytes and values.',
    labels: ['use'],
  },
  waiting: {
    name: 'boxwright_memory_waiting',
    type: 'gauge',
    help: 'Calls and reads that wait until the budget for memory has room for them.',
    labels: [],
  },
  refused: {
    name: 'boxwright_memory_refused_total',
    type: 'counter',
    help: 'Calls and reads that were refused since the budget for memory has no room for them, or not in time.',
    labels: [],
  },
} as const satisfies Record<string, MetricDefinition>;

/** Shows how full the budget is, worked out when somebody asks. */
export function showMemory(metrics: Metrics, budget: MemoryBudget): void {
  metrics.gauge(MEMORY_METRICS.budget, (gauge) => gauge.set(budget.capacity));
  metrics.gauge(MEMORY_METRICS.held, (gauge) => {
    for (const use of HELD_FOR) gauge.set({ use }, budget.heldFor(use));
  });
  metrics.gauge(MEMORY_METRICS.waiting, (gauge) => gauge.set(budget.waiting));
  const refused = metrics.counter(MEMORY_METRICS.refused);
  budget.onRefusal(() => refused.inc());
}
