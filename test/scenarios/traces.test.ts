import { expect, it } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { OtlpTracer } from '../../src/cli/operator/traces/otlp-tracer.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { HOUR, instance, Shop } from './shop.ts';

interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: { key: string; value: { stringValue?: string } }[];
}

it('lead from a resource to the calls that were made for it, and hold no secret', async () => {
  const bodies: string[] = [];
  let id = 0;
  const tracer = new OtlpTracer({
    clock: new VirtualClock(),
    log: silentLogger,
    send: (body) => Promise.resolve(void bodies.push(body)),
    randomHex: (bytes) => (++id).toString(16).padStart(bytes * 2, '0'),
    resource: { 'service.name': 'boxwright' },
  });
  const shop = await Shop.open({ tracer });
  await shop.world.apply(instance('  variables: [{name: PORT, type: Port, value: "80"}]'));
  await shop.online();
  await shop.world.advance(HOUR);
  await tracer.close();
  await shop.close();
  const spans = bodies
    .flatMap(
      (body) => (JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] }).resourceSpans,
    )
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  const deploy = spans.filter(({ name }) => name.startsWith('POST ') && name.includes('instances'));
  expect(deploy).toHaveLength(1);
  const pass = spans.find(({ spanId }) => spanId === deploy[0]?.parentSpanId);
  expect(pass?.name).toBe('reconcile Instance');
  expect(
    Object.fromEntries((pass?.attributes ?? []).map(({ key, value }) => [key, value.stringValue])),
  ).toMatchObject({
    'k8s.namespace.name': 'shop',
    'boxwright.name': 'web-eu',
  });
  const text = bodies.join();
  for (const secret of ['token-of-ops', 'secret-password', '#!/bin/bash']) expect(text).not.toContain(secret);
});
