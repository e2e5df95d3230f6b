import { describe, expect, it } from 'vitest';
import { SecretSet } from '../../../base/masking/secret-set.ts';
import { tellingLines } from './telling.ts';

function knowing(...values: string[]): SecretSet {
  const secrets = new SecretSet();
  for (const value of values) secrets.note(value);
  return secrets;
}

describe('the telling lines of a log', () => {
  it('name the script that failed, its machine and exit code, and what was said last', () => {
    const told = tellingLines(
      [
        { text: 'starting', level: 'start' },
        { event: 'install', machine: 'eb-1', exit_code: 0 },
        { event: 'configure', machine: 'eb-1', exit_code: 3, text: 'no such host' },
        { text: 'stopped' },
      ],
      knowing(),
    );
    expect(told).toBe('configure on eb-1 ended with exit code 3: starting | no such host | stopped');
  });

  it('say nothing of an empty log', () => {
    expect(tellingLines([], knowing())).toBe('');
  });

  it('hold no secret value, whole or line by line, and no control characters', () => {
    const told = tellingLines(
      [{ text: 'login hunter2-hunter2 failed\nBEGIN\nsecond line\u0007' }],
      knowing('hunter2-hunter2', 'first line\nsecond line'),
    );
    expect(told).toBe('login **** failed BEGIN **** ');
  });

  it('are cut to 1 KiB, and end in no part of a secret', () => {
    for (const room of [0, 3, 4, 5, 8, 11, 12]) {
      const told = tellingLines(
        [{ text: `${'x'.repeat(1_023 - room)}secret-value` }],
        knowing('secret-value'),
      );
      expect(told.length).toBeLessThanOrEqual(1_028);
      expect(told).not.toContain('secr');
    }
  });

  it('hold no secret in an encoding', () => {
    const told = tellingLines(
      [{ text: `said ${encodeURIComponent('p@ss wörd/1')}` }],
      knowing('p@ss wörd/1'),
    );
    expect(told).toBe('said ****');
  });
});
