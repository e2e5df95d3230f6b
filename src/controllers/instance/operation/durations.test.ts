import { describe, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../service/index.ts';
import { Durations } from './durations.ts';

const HERE = 'https://service.test';
const POLL_MS = 5_000;

function record(seconds: string, more: Partial<InstanceRecord> = {}): InstanceRecord {
  return {
    id: 'i',
    box: 'web',
    state: 'done',
    operation: { event: 'deploy', created: '2026-01-01 00:00:00.000000' },
    updated: `2026-01-01 00:00:${seconds}`,
    ...more,
  };
}

const next = (durations: Durations, ranMs: number, of = record('00')): number =>
  durations.nextLook(HERE, of, { ranMs, pollMs: POLL_MS }).afterMs;

describe('when an operation is looked at', () => {
  it('is a poll later where none like it has ended', () => {
    expect(next(new Durations(), 0)).toBe(POLL_MS);
  });

  it('is when the shortest like it had ended, and a poll later from then on', () => {
    const durations = new Durations();
    durations.note(HERE, record('04.500000'));
    durations.note(HERE, record('03.000000'));
    expect(next(durations, 0)).toBe(3_050);
    expect(next(durations, 2_000)).toBe(1_050);
    expect(next(durations, 3_100)).toBe(POLL_MS);
  });

  it('is never farther than a poll and a half: it may fail early', () => {
    const durations = new Durations();
    durations.note(HERE, record('40.000000'));
    expect(next(durations, 0)).toBe(POLL_MS);
    expect(next(durations, 33_000)).toBe(7_050);
  });

  it('is learnt anew where a change has made it slower', () => {
    const durations = new Durations();
    durations.note(HERE, record('01.000000'));
    for (let i = 0; i < 8; i++) durations.note(HERE, record('04.000000'));
    expect(next(durations, 0)).toBe(4_050);
  });

  it('is not learnt from failures, other boxes, other events, other services or times that make no sense', () => {
    const durations = new Durations();
    durations.note(HERE, record('01.000000', { state: 'unavailable' }));
    durations.note(HERE, record('01.000000', { box: 'other' }));
    durations.note(
      HERE,
      record('01.000000', { operation: { event: 'reinstall', created: '2026-01-01 00:00:00' } }),
    );
    durations.note('https://other.test', record('01.000000'));
    durations.note(HERE, record('01', { updated: '2025-12-31 23:59:59' }));
    durations.note(HERE, record('01', { updated: 'soon' }));
    expect(next(durations, 0)).toBe(POLL_MS);
  });

  it('counts an operation as the same however its end is called', () => {
    const durations = new Durations();
    const operation = { event: 'terminate_service', created: '2026-01-01 00:00:00' };
    durations.note(HERE, record('02.000000', { operation }));
    expect(next(durations, 0, record('00', { operation: { event: 'terminate' } }))).toBe(2_050);
  });

  it('is not learnt under names without end, which would fill memory', () => {
    const durations = new Durations();
    const endless = { box: 'x'.repeat(100_000) };
    durations.note(HERE, record('03.000000', endless));
    expect(next(durations, 0, record('00', endless))).toBe(POLL_MS);
  });
});
