import { expect, it } from 'vitest';
import { Metrics } from '../../kube/index.ts';
import { ServiceMetrics } from './service-metrics.ts';

it('counts calls by outcome and times those that were sent', async () => {
  const metrics = new Metrics();
  const calls = new ServiceMetrics(metrics);
  const call = { method: 'GET', template: '/services/boxes/{box_id}', status: 200 };
  calls.count('shop/main', { ...call, ms: 40, outcome: 'ok' });
  calls.count('shop/main', { ...call, ms: 0, status: undefined, outcome: 'BreakerOpen' });
  const text = await metrics.render();
  const labels = 'connection="shop/main",method="GET",template="/services/boxes/{box_id}"';
  expect(text).toContain(`boxwright_service_requests_total{${labels},outcome="ok"} 1`);
  expect(text).toContain(`boxwright_service_requests_total{${labels},outcome="BreakerOpen"} 1`);
  expect(text).toContain(`boxwright_service_request_duration_seconds_bucket{le="0.05",${labels}} 1`);
  expect(text).toContain(`boxwright_service_request_duration_seconds_count{${labels}} 1`);
});
