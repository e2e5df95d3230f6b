import { expect, it } from 'vitest';
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
  const spans: Span[] = [];
  let id = 0;
  const tracer = new OtlpTracer({
    clock: new VirtualClock(),
    add: (span) => void spans.push(span as Span),
    randomHex: (bytes) => (++id).toString(16).padStart(bytes * 2, '0'),
  });
  const shop = await Shop.open({ tracer });
  await shop.world.apply(instance('  variables: [{name: PORT, type: Port, value: "80"}]'));
  await shop.online();
  await shop.world.advance(HOUR);
  await shop.close();
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
  const text = JSON.stringify(spans);
  for (const secret of ['token-of-ops', 'secret-password', '#!/bin/bash']) expect(text).not.toContain(secret);
});
