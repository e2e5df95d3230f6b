import { describe, expect, it } from 'vitest';
import { tellingLines } from './telling.ts';

describe('the telling lines of a log', () => {
  it('name the script that failed, its machine and exit code, and what was said last', () => {
    const told = tellingLines(
      [
        { text: 'starting', level: 'start' },
        { event: 'install', machine: 'eb-1', exit_code: 0 },
        { event: 'configure', machine: 'eb-1', exit_code: 3, text: 'no such host' },
        { text: 'stopped' },
      ],
      [],
    );
    expect(told).toBe('configure on eb-1 ended with exit code 3: starting | no such host | stopped');
  });

  it('say nothing of an empty log', () => {
    expect(tellingLines([], [])).toBe('');
  });

  it('hold no secret value, whole or line by line, and no control characters', () => {
    const told = tellingLines(
      [{ text: 'login hunter2-hunter2 failed\nBEGIN\nsecond line\u0007' }],
      ['hunter2-hunter2', 'first line\nsecond line'],
    );
    expect(told).toBe('login **** failed BEGIN **** ');
  });

  it('are cut to 1 KiB, after masking', () => {
    const told = tellingLines([{ text: `${'x'.repeat(1_020)}secret-value` }], ['secret-value']);
    expect(told.length).toBeLessThanOrEqual(1_024);
    expect(told).not.toContain('secr');
  });

  it('mask the longer of two secrets first, and leave short ones, which would mask everything', () => {
    const two = ['password', 'password-long'];
    expect(tellingLines([{ text: 'password-long password' }], two)).toBe('**** ****');
    expect(tellingLines([{ text: 'a cat' }], ['a'])).toBe('a cat');
  });
});
