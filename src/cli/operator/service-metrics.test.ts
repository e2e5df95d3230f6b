import { expect, it } from 'vitest';
import { Metrics } from '../../kube/index.ts';
import { ServiceMetrics } from './service-metrics.ts';

// S9
it('forgets a connection that is gone, and no other', async () => {
  const metrics = new Metrics();
  const calls = new ServiceMetrics(metrics);
  const before = await metrics.render();
  const call = { method: 'GET', template: '/services/boxes/{box_id}', status: 200, ms: 40 } as const;
  for (const outcome of ['ok', 'ServerError']) {
    calls.count('shop/gone', { ...call, outcome, lane: 'new', waitedMs: 1 });
  }
  calls.forget('shop/gone');
  expect(await metrics.render()).toBe(before);
  calls.count('shop/stays', { ...call, outcome: 'ok', lane: 'new', waitedMs: 1 });
  calls.forget('shop/gone');
  expect(await metrics.render()).toContain('connection="shop/stays"');
});

it('counts calls by outcome, times those that were sent and those that stood in line', async () => {
  const metrics = new Metrics();
  const calls = new ServiceMetrics(metrics);
  const call = { method: 'GET', template: '/services/boxes/{box_id}', status: 200 };
  const sent = { ...call, ms: 40, outcome: 'ok', lane: 'new', waitedMs: 2_000 } as const;
  calls.count('shop/main', sent);
  const held = { ms: 0, status: undefined, outcome: 'BreakerOpen', waitedMs: undefined };
  calls.count('shop/main', { ...sent, ...held });
  const text = await metrics.render();
  const labels = 'connection="shop/main",method="GET",template="/services/boxes/{box_id}"';
  expect(text).toContain(`boxwright_service_requests_total{${labels},outcome="ok"} 1`);
  expect(text).toContain(`boxwright_service_requests_total{${labels},outcome="BreakerOpen"} 1`);
  expect(text).toContain(`boxwright_service_request_duration_seconds_bucket{le="0.05",${labels}} 1`);
  expect(text).toContain(`boxwright_service_request_duration_seconds_count{${labels}} 1`);
  const waited = 'boxwright_service_budget_wait_seconds';
  expect(text).toContain(`${waited}_bucket{le="1",connection="shop/main",priority="new"} 0`);
  expect(text).toContain(`${waited}_count{connection="shop/main",priority="new"} 1`);
});

it('counts the connections of a namespace together that are more than anybody looks at', async () => {
  const metrics = new Metrics();
  const calls = new ServiceMetrics(metrics);
  const before = await metrics.render();
  const call = {
    method: 'GET',
    template: '/services',
    status: 200,
    ms: 1,
    outcome: 'ok',
    lane: 'new',
    waitedMs: 1,
  } as const;
  for (let i = 0; i < 500; i++) calls.count(`big/c-${i}`, call);
  calls.count('small/main', call);
  const text = await metrics.render();
  const requests = text.match(/^boxwright_service_requests_total\{.*/gm);
  expect(requests).toHaveLength(102);
  expect(requests).toContain(
    'boxwright_service_requests_total{connection="big/*",method="GET",template="/services",outcome="ok"} 400',
  );
  for (let i = 100; i < 500; i++) calls.forget(`big/c-${i}`);
  expect(await metrics.render()).not.toContain('big/*');
  for (let i = 0; i < 100; i++) calls.forget(`big/c-${i}`);
  calls.forget('small/main');
  expect(await metrics.render()).toBe(before);
});
