import { describe, expect, it } from 'vitest';
import { ANNOTATIONS } from '../../api/names.ts';
import { isPaused } from './policies.ts';

function pausedBy(value: string | undefined, field = false): boolean {
  const annotations = value === undefined ? {} : { [ANNOTATIONS.paused]: value };
  return isPaused({
    metadata: { name: 'web', annotations },
    spec: { paused: field },
  } as unknown as Parameters<typeof isPaused>[0]);
}

describe('a pause', () => {
  it.each(['true', 'True', 'yes', '1', 'on'])('is the annotation with %s', (value) => {
    expect(pausedBy(value)).toBe(true);
  });

  it.each(['false', '', undefined])('is not the annotation with %j, unless the field says so', (value) => {
    expect(pausedBy(value)).toBe(false);
    expect(pausedBy(value, true)).toBe(true);
  });
});
