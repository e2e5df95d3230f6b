import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anything, assert, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { parseExactJson } from '../base/exact-json.ts';
import { canonicalJson } from '../base/hash.ts';
import { parseBox } from './box.ts';
import { parseConnection } from './connection.ts';
import { parseInstance } from './instance.ts';
import { KINDS, kindOf, type AnyResource } from './kinds.ts';
import { parsePolicyBox } from './policy-box.ts';
import type { Parsed } from './resource.ts';

const metadata = {
  name: 'sample',
  namespace: 'shop',
  uid: 'u-1',
  resourceVersion: '7',
  generation: 3,
  creationTimestamp: '2026-11-01T08:00:00Z',
};

function messages(parsed: Parsed<unknown>): string[] {
  return parsed.ok ? [] : parsed.problems.map(({ message }) => message);
}

const connectionRef = { name: 'main' };
const profile = { schema: 'test/compute/profile' };

describe('a resource as the operator sees it', () => {
  test('has no key in an open object that would be repeated for each value below it', () => {
    const properties = { ['x'.repeat(257)]: { a: 1 }, ['y'.repeat(256)]: { a: 1 } };
    const parsed = parsePolicyBox({
      metadata,
      spec: { connectionRef, providerId: 'p', profile: { ...profile, properties } },
    });
    expect(messages(parsed)).toEqual([
      'spec.profile.properties has a key of more than 256 characters: make it shorter',
    ]);
  });

  test('has every default, nested ones included', () => {
    const parsed = parseConnection({
      metadata,
      spec: { endpoint: 'https://deploy.example.com', credentialsRef: { name: 'login' } },
    });
    expect(parsed).toMatchObject({
      ok: true,
      resource: {
        apiVersion: 'boxwright.dev/v1alpha1',
        kind: 'Connection',
        spec: {
          schemaBase: '',
          workspace: '',
          release: '4.0',
          headers: { release: 'Service-Release' },
          pace: { requestsPerSecond: 10, burst: 20, inFlight: 16 },
          poll: { processing: '5s', settled: '10m', lagWindow: '60s' },
          defaults: { deletionPolicy: 'Delete', driftPolicy: 'Correct' },
        },
        status: { observedGeneration: -1 },
      },
    });
  });

  test('keeps absence where absence means the connection’s choice', () => {
    const parsed = parseBox({ metadata, spec: { connectionRef } });
    expect(parsed.ok && Object.keys(parsed.resource.spec)).not.toContain('driftPolicy');
    expect(parsed.ok && Object.keys(parsed.resource.spec)).not.toContain('deletionPolicy');
  });

  test('has neither fields that the schema does not know nor managedFields', () => {
    const parsed = parseBox({
      metadata: { ...metadata, managedFields: [{}], labels: { tier: 'web' } },
      spec: { connectionRef: { ...connectionRef, later: 1 }, later: {} },
      later: true,
    });
    expect(JSON.stringify(parsed)).not.toMatch(/later|managedFields/);
    expect(parsed.ok && parsed.resource.metadata.labels).toEqual({ tier: 'web' });
  });

  test('takes null for absent where there is a default', () => {
    const parsed = parseBox({ metadata, spec: { connectionRef, variables: null }, status: null });
    expect(parsed.ok && parsed.resource.spec.variables).toEqual([]);
    expect(parsed.ok && parsed.resource.status).toEqual({ observedGeneration: -1 });
  });

  test('shares nothing with what was parsed', () => {
    const raw = { metadata, spec: { connectionRef, requirements: ['Linux'] } };
    const parsed = parseBox(raw);
    if (parsed.ok) parsed.resource.spec.requirements.push('Windows');
    expect(raw.spec.requirements).toEqual(['Linux']);
  });

  test('keeps profile properties as they are', () => {
    const properties = { image: 'test', instances: 1, security_groups: ['web'], disks: [{ size: 10 }] };
    const spec = { connectionRef, providerId: 'p', profile: { ...profile, properties } };
    const parsed = parsePolicyBox({ metadata, spec });
    expect(parsed.ok && parsed.resource.spec.profile.properties).toEqual(properties);
  });

  // B5
  test('keeps whole numbers in them digit for digit, and says so where one is too large for a field', () => {
    const text = '{"max_ttl":9007199254740993,"ids":[-18446744073709551616]}';
    const spec = {
      connectionRef,
      providerId: 'p',
      profile: { ...profile, properties: parseExactJson(text) },
    };
    const parsed = parsePolicyBox({ metadata, spec });
    expect(parsed.ok && canonicalJson(parsed.resource.spec.profile.properties)).toBe(
      '{"ids":[-18446744073709551616],"max_ttl":9007199254740993}',
    );
    const pace = { requestsPerSecond: 9007199254740993n };
    const refused = parseConnection({
      metadata,
      spec: { endpoint: 'https://a.example', credentialsRef: { name: 'a' }, pace },
    });
    expect(refused.ok ? [] : refused.problems.map(({ message }) => message)).toEqual([
      'spec.pace.requestsPerSecond is 9007199254740993: must be of type integer',
    ]);
  });
});

describe('what an older schema let through', () => {
  test('is named with field, value and next step', () => {
    const spec = { connectionRef, boxRef: { name: 'web' }, policyBoxId: 'p', operationTimeout: 'soon' };
    expect(parseInstance({ metadata, spec })).toMatchObject({
      ok: false,
      metadata,
      problems: [
        {
          path: 'spec.operationTimeout',
          value: '"soon"',
          message:
            'spec.operationTimeout is "soon": must be a duration, such as 90s or 8h (units: ms, s, m, h)',
        },
      ],
    });
  });

  test('is not repeated where it may be a secret', () => {
    const variables = [{ name: 'A', type: 'Password', value: 'canary-1' }];
    expect(JSON.stringify(parseBox({ metadata, spec: { connectionRef, variables } }))).not.toContain(
      'canary',
    );
    const long = [{ name: 'A', type: 'Text', value: `canary-2${'x'.repeat(5_000)}` }];
    expect(JSON.stringify(parseBox({ metadata, spec: { connectionRef, variables: long } }))).not.toContain(
      'canary',
    );
  });

  test('keys that reach a prototype are refused in open objects', () => {
    const properties = JSON.parse('{"a": {"__proto__": {"x": 1}}, "constructor": 1}') as object;
    const spec = { connectionRef, providerId: 'p', profile: { ...profile, properties } };
    expect(messages(parsePolicyBox({ metadata, spec }))).toEqual([
      'spec.profile.properties.a has the key __proto__, which is not allowed: rename it',
      'spec.profile.properties has the key constructor, which is not allowed: rename it',
    ]);
  });

  test('open objects that are too deep or too large are refused', () => {
    let deep: object = {};
    for (let i = 0; i < 10_000; i++) deep = { deep };
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`k${i}`, Array(100).fill(0)]));
    for (const properties of [deep, wide]) {
      const spec = { connectionRef, providerId: 'p', profile: { ...profile, properties } };
      expect(messages(parsePolicyBox({ metadata, spec })).join()).toContain('too deep or too large');
    }
  });

  test('several rules of one object are all named', () => {
    const spec = { connectionRef, boxRef: { name: 'a' }, boxId: 'b' };
    expect(messages(parseInstance({ metadata, spec }))).toEqual([
      'spec: set exactly one of boxRef and boxId',
      'spec: set exactly one of policyBoxRef and policyBoxId',
    ]);
  });
});

describe('the invalid samples', () => {
  const folder = join(import.meta.dirname, '..', '..', 'test', 'api', 'invalid');
  test.each(readdirSync(folder))('%s is refused by the parser as by the API server', (file) => {
    const text = readFileSync(join(folder, file), 'utf8');
    const own = /^# parse: (.*)$/m.exec(text)?.[1];
    const raw = parseYaml(text) as { kind: AnyResource['kind']; metadata: object };
    const found = messages(kindOf(raw.kind).parse({ ...raw, metadata: { ...metadata, ...raw.metadata } }));
    const words = own ?? [...text.matchAll(/^# expect: (.*)$/gm)].at(-1)?.[1] ?? '';
    // What the schema does not know is left out by the API server too, unless it is asked to be strict.
    expect(found.length > 0).toBe(own !== 'pruned');
    expect(found.join('\n')).toContain(own === 'pruned' ? '' : words);
  });
});

describe('whatever comes', () => {
  test('the parser answers and does not throw', () => {
    assert(
      property(anything(), anything(), (spec, status) => {
        for (const { parse } of KINDS) {
          expect(parse({ metadata, spec, status }).ok).toBe(false);
          expect(parse(spec).ok).toBe(false);
        }
      }),
      { numRuns: 200 },
    );
  });
});
