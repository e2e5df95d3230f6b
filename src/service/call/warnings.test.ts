import { describe, expect, it } from 'vitest';
import { warningsOf } from './warnings.ts';

const secrets = { mask: (text: string) => text.replaceAll('s3cret', '***') };
const of = (warning: string): string[] => warningsOf({ headers: { warning } }, secrets);

describe('the texts of Warning headers', () => {
  it('are taken out of their quotes, each once', () => {
    expect(of('299 - "old \\"flavor\\"", 199 svc.example:80 "slow", 299 - "slow"')).toEqual([
      'old "flavor"',
      'slow',
    ]);
  });

  it('hold no secret, no control character, and no more than 256 characters each', () => {
    expect(of('299 - "is s3cret"')).toEqual(['is ***']);
    expect(of('299 - "a\u001b[31m\tb"')).toEqual(['a [31m b']);
    expect(of(`299 - "${'x'.repeat(2_000)}"`)[0]).toHaveLength(256);
  });

  it('are five at the most, and none where the header is none', () => {
    const many = Array.from({ length: 50 }, (_, at) => `299 - "warning ${at}"`).join(', ');
    expect(of(many)).toHaveLength(5);
    expect(of('"'.repeat(100_000))).toEqual([]);
    expect(warningsOf({ headers: {} }, secrets)).toEqual([]);
  });
});
