import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { createServiceClient } from '../client.ts';
import type { ServiceClient } from '../client.ts';
import { raw, ScriptedPort } from '../scripted-port.ts';

/** JSON that often looks like a record, with parts of all types in the fields that are relied on. */
const recordLike = fc.record(
  Object.fromEntries(
    [
      'id',
      'name',
      'updated',
      'variables',
      'events',
      'tags',
      'members',
      'operation',
      'lease',
      'service',
      'url',
      '__proto__',
    ].map((field) => [
      field,
      fc.oneof(
        fc.constant('x'),
        fc.constant(null),
        fc.jsonValue(),
        fc.array(fc.oneof(fc.record({ name: fc.jsonValue(), url: fc.jsonValue() }), fc.constant(null))),
      ),
    ]),
  ),
  { requiredKeys: [] },
);

const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.oneof(recordLike, fc.array(recordLike)).map((value) => Buffer.from(JSON.stringify(value))),
);
const status = fc.oneof(
  fc.constantFrom(200, 202, 204, 401, 404, 409, 429),
  fc.integer({ min: 200, max: 599 }),
);

const calls: ((client: ServiceClient) => Promise<{ kind: string; record?: unknown }>)[] = [
  (client) => client.boxes.read('x'),
  (client) => client.boxes.create({ schema: 's', name: 'x' }),
  (client) => client.boxes.update('x', { schema: 's', name: 'x' }),
  (client) => client.boxes.remove('x'),
  (client) => client.boxes.versions('x'),
  (client) => client.instances.read('x'),
  (client) => client.instances.operate('x', 'shutdown'),
  (client) => client.instances.operations('x'),
  (client) => client.instances.activity('x'),
  (client) => client.instances.machineLogs('x'),
  (client) => client.workspaces.list(),
  (client) => client.workspaces.instances('x'),
  (client) => client.providers.read('x'),
  (client) => client.blobs.uploadRaw({ name: 'x', bytes: Buffer.from('x') }),
];

it('turns every answer into a result, whatever it holds', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(calls.length - 1), status, body, async (index, code, bytes) => {
      const client = createServiceClient({
        port: new ScriptedPort(() => raw(code, bytes)),
        credentials: { kind: 'token', token: 't' },
        clock: new VirtualClock(),
        random: () => 0.5,
      });
      const result = await calls[index]?.(client);
      const failures = ['missing', 'unknown', 'refused', 'notSent'];
      expect(code >= 300 ? failures : [...failures, 'found', 'ok']).toContain(result?.kind);
    }),
    { numRuns: 500 },
  );
});

it('finds only records that carry the id that was asked for', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(recordLike, async (record) => {
      const client = createServiceClient({
        port: new ScriptedPort(() => raw(200, JSON.stringify(record))),
        credentials: { kind: 'token', token: 't' },
        clock: new VirtualClock(),
        random: () => 0.5,
      });
      const read = await client.instances.read('x');
      const asked = read.kind !== 'found' || (record as { id?: unknown }).id === 'x';
      expect(asked).toBe(true);
      const tags = read.kind === 'found' ? (read.record.tags ?? []) : [];
      expect(tags.every((tag) => typeof tag === 'string')).toBe(true);
    }),
    { numRuns: 300 },
  );
});
