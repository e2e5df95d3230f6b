import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InstanceOperationName } from '../../service/index.ts';
import { accepts, pairOf, phaseOf, reasonOfRunning, sameOperation } from './pair.ts';

const done = (event: string) => phaseOf({ state: 'done', event });

describe('a pair of state and event', () => {
  it('says what a person would', () => {
    expect(['deploy', 'poweron', 'reinstall', 'reconfigure', 'snapshot'].map(done)).toEqual(
      Array.from({ length: 5 }, () => 'Online'),
    );
    expect(['shutdown', 'shutdown_service'].map(done)).toEqual(['ShutDown', 'ShutDown']);
    expect(['terminate', 'terminate_service'].map(done)).toEqual(['Terminated', 'Terminated']);
    expect(phaseOf({ state: 'unavailable', event: 'reinstall' })).toBe('Failed');
    expect(phaseOf({ state: 'processing', event: 'terminate_service' })).toBe('Terminating');
  });

  it('is unknown wherever a word of it is, whatever that word is', () => {
    expect(phaseOf(pairOf({ id: 'i' }))).toBe('Unknown');
    for (const event of ['constructor', 'toString', '__proto__', 'migrate']) {
      for (const state of ['done', 'processing', 'unavailable'])
        expect(phaseOf({ state, event })).toBe('Unknown');
    }
    fc.assert(
      fc.property(fc.string(), (state) => {
        fc.pre(!['done', 'processing', 'unavailable'].includes(state));
        expect(phaseOf({ state, event: 'deploy' })).toBe('Unknown');
      }),
    );
  });

  it('runs an operation only while it is processing', () => {
    expect(reasonOfRunning('Online')).toBeUndefined();
    expect(reasonOfRunning('Failed')).toBeUndefined();
    expect(reasonOfRunning('Deploying')).toBe('Deploying');
  });

  it('accepts what the table of the service accepts', () => {
    const table: Record<InstanceOperationName, string[]> = {
      reconfigure: ['done/deploy', 'done/poweron', 'unavailable/reconfigure'],
      reinstall: ['done/deploy', 'done/poweron', 'unavailable/reinstall', 'unavailable/reconfigure'],
      shutdown: ['done/deploy', 'done/poweron'],
      poweron: ['done/shutdown'],
      deploy: ['unavailable/deploy'],
    };
    const pairs = ['done', 'unavailable', 'processing'].flatMap((state) =>
      ['deploy', 'poweron', 'shutdown', 'reinstall', 'reconfigure', 'terminate', 'migrate']
        .map((event) => ({ state, event }))
        .filter((pair) => !(pair.state === 'done' && pair.event.startsWith('re'))),
    );
    for (const [operation, expected] of Object.entries(table) as [InstanceOperationName, string[]][]) {
      const taken = pairs
        .filter((pair) => accepts(operation, pair))
        .map(({ state, event }) => `${state}/${event}`);
      expect(taken.toSorted()).toEqual(expected.toSorted());
    }
  });

  it('has two words for the second phase of one operation', () => {
    expect(sameOperation('shutdown', 'shutdown_service')).toBe(true);
    expect(sameOperation('shutdown', 'terminate_service')).toBe(false);
  });
});
