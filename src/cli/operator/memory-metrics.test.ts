import { expect, it } from 'vitest';
import { MemoryBudget } from '../../base/memory-budget.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { Metrics } from '../../kube/index.ts';
import { showMemory } from './memory-metrics.ts';

it('shows how full the budget for memory is, who waits, and what was refused', async () => {
  const metrics = new Metrics();
  const clock = new VirtualClock();
  const budget = new MemoryBudget({ capacity: 3_000_000, clock });
  showMemory(metrics, budget);
  budget.share('a').open('lists').trySet(1_000_000);
  const waits = budget.share('a').open('contents').set(300_000);
  const refused = budget.share('a').open('answers').set(1_100_000);
  await expect(refused).rejects.toThrow('more memory');
  const text = await metrics.render();
  expect(text).toContain('boxwright_memory_budget_bytes 3000000');
  expect(text).toContain('boxwright_memory_held_bytes{use="lists"} 1000000');
  expect(text).toContain('boxwright_memory_held_bytes{use="contents"} 0');
  expect(text).toContain('boxwright_memory_waiting 1');
  expect(text).toContain('boxwright_memory_refused_total 1');
  const late = waits.then(
    () => 'fits',
    (error: Error) => error.message,
  );
  await clock.advance(60_000);
  expect(await late).toContain('taken by others');
  expect(await metrics.render()).toContain('boxwright_memory_refused_total 2');
});
