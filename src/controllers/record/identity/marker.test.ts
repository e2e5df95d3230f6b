import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markerOf, markerPrefix } from './marker.ts';

const resource = fc.record({
  kind: fc.constantFrom('Box', 'PolicyBox', 'Instance'),
  namespace: fc.string({ minLength: 1, maxLength: 63 }),
  name: fc.string({ minLength: 1, maxLength: 253 }),
});

describe('a marker', () => {
  it('is the same for the same name after a delete and recreate', () => {
    const web = { kind: 'Instance', namespace: 'shop', name: 'web' };
    expect(markerOf('one', web)).toBe(markerOf('one', { ...web }));
    expect(markerOf('one', web)).toMatch(/^bw-[a-z2-7]{8}-[a-z2-7]{16}$/);
  });

  it('fits a tag of the service, and begins with the prefix of its installation', () => {
    fc.assert(
      fc.property(fc.string(), resource, (installation, marked) => {
        const marker = markerOf(installation, marked);
        expect(marker.length).toBeLessThanOrEqual(30);
        expect(marker.startsWith(markerPrefix(installation))).toBe(true);
      }),
    );
  });

  it('tells kinds, namespaces, names and installations apart, wherever the parts meet', () => {
    fc.assert(
      fc.property(resource, resource, (a, b) => {
        const same = a.kind === b.kind && a.namespace === b.namespace && a.name === b.name;
        expect(markerOf('x', a) === markerOf('x', b)).toBe(same);
      }),
    );
    const web = { kind: 'Box', namespace: 'a', name: 'bc' };
    expect(markerOf('x', web)).not.toBe(markerOf('x', { kind: 'Box', namespace: 'ab', name: 'c' }));
    expect(markerOf('x', web)).not.toBe(markerOf('y', web));
  });
});
