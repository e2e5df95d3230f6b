import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { METRICS, Metrics } from './metrics.ts';
import { WorkQueue } from '../work/queue.ts';

describe('Metrics', () => {
  it('has a help text, unit and name by convention for each metric of the table, and registers them all', async () => {
    const names = (await new Metrics().registry.getMetricsAsJSON()).map(({ name }) => name);
    for (const definition of Object.values(METRICS)) {
      expect(names).toContain(definition.name);
      expect(definition.help).toMatch(/^[A-Z1].*\.$/);
      expect(definition.name).toMatch(
        { counter: /_total$/, histogram: /_seconds$/, gauge: /^[a-z_]+$/ }[definition.type],
      );
    }
    expect(names).toHaveLength(Object.keys(METRICS).length);
  });

  it('keeps two processes in one apart', async () => {
    const [a, b] = [new Metrics(), new Metrics()];
    a.reconcileTotal.inc({ controller: 'x', result: 'success' });
    expect(await b.render()).not.toContain('controller="x"');
  });

  it('shows depth by priority, waiting and working time, and the age of what is unfinished', async () => {
    const clock = new VirtualClock();
    const metrics = new Metrics();
    const queue = new WorkQueue({ clock, random: () => 0, observer: metrics.queueObserver('thing') });
    metrics.watchQueue('thing', queue);
    queue.add('a', 'new');
    queue.add('b', 'periodic');
    await clock.advance(500);
    await queue.take();
    await clock.advance(1_500);
    const text = await metrics.render();
    const labels = 'name="thing",controller="thing"';
    expect(text).toContain(`workqueue_depth{${labels},priority="new"} 0`);
    expect(text).toContain(`workqueue_depth{${labels},priority="periodic"} 1`);
    expect(text).toContain(`workqueue_adds_total{${labels}} 2`);
    expect(text).toContain(`workqueue_queue_duration_seconds_sum{${labels}} 0.5`);
    expect(text).toContain(`workqueue_unfinished_work_seconds{${labels}} 1.5`);
    expect(text).toContain(`workqueue_longest_running_processor_seconds{${labels}} 1.5`);
    expect(text).toContain(`workqueue_oldest_wait_seconds{${labels}} 2`);
    await queue.take();
    expect(await metrics.render()).toContain(`workqueue_oldest_wait_seconds{${labels}} 0`);
  });
});
