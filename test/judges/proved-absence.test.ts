import { beforeEach, describe, expect, it } from 'vitest';
import type { ServiceCall } from './judge.ts';
import { ProvedAbsence } from './proved-absence.ts';
import { ENDPOINT, stored, Trial } from './trial.ts';

const HOME = { id: 'i-1', home: { owner: 'w-1', endpoint: ENDPOINT } };

let trial: Trial;
let absence: ProvedAbsence;
beforeEach(() => {
  trial = new Trial((court) => {
    absence = new ProvedAbsence(court);
    return { called: (call: ServiceCall) => absence.called(call) };
  });
  trial.records.instances.push({ id: 'i-1', name: 'web', owner: 'w-1' });
  trial.store('instances', stored({ status: HOME }));
});

const get = (status = 404): void => trial.call('GET', '/services/instances/i-1', { status });
const list = (...ids: string[]): void =>
  trial.call('GET', '/services/workspaces/w-1/instances', { answer: ids.map((id) => ({ id })) });
/** Looks that do not show it, the first and the last of them so far apart. */
const unseen = (seconds: number, everySeconds = 15): void => {
  for (const end = trial.seconds + seconds; ; trial.seconds += everySeconds) {
    get();
    list();
    if (trial.seconds >= end) return;
  }
};

it('takes looks over a lag window for a proof, until a look shows the record', () => {
  unseen(60);
  expect(absence.isProved('i-1')).toBe(true);
  get(200);
  expect(absence.isProved('i-1')).toBe(false);
});

describe('takes for no proof', () => {
  it.each([
    ['looks over less than a window', () => unseen(45)],
    ['two looks, however far apart', () => unseen(29, 29)],
    [
      'looks with half a window between them',
      () => {
        unseen(45);
        trial.seconds += 31;
        unseen(15);
      },
    ],
    [
      'single reads that no list confirms',
      () => {
        for (; trial.seconds <= 90; trial.seconds += 15) get();
      },
    ],
    [
      'looks that a list with the record interrupts',
      () => {
        unseen(45);
        list('i-1');
        unseen(45);
      },
    ],
    [
      'looks from before a write',
      () => {
        unseen(45);
        trial.call('PUT', '/services/instances/i-1');
        unseen(30);
      },
    ],
    [
      'looks with other answers than 404',
      () => {
        for (; trial.seconds <= 90; trial.seconds += 15) {
          get(403);
          list();
        }
      },
    ],
    [
      'one window where all of an owner are gone at once',
      () => {
        trial.store('instances', stored({ name: 'other', status: { ...HOME, id: 'i-2' } }));
        unseen(90);
      },
    ],
  ])('%s', (_what, looks) => {
    looks();
    expect(absence.isProved('i-1')).toBe(false);
  });
});

it('takes five windows for a proof where all of an owner are gone at once', () => {
  trial.store('instances', stored({ name: 'other', status: { ...HOME, id: 'i-2' } }));
  unseen(300);
  expect(absence.isProved('i-1')).toBe(true);
});

it.each([
  ['20s', 15, false],
  ['20s', 20, true],
  ['5s', 15, false],
  ['2m', 105, false],
  ['2m', 120, true],
])(
  'takes the lag window %s that a Connection names: proved after %d s: %s',
  (lagWindow, seconds, isProved) => {
    trial.store('connections', stored({ name: 'main', spec: { poll: { lagWindow } } }));
    unseen(seconds, 5);
    expect(absence.isProved('i-1')).toBe(isProved);
  },
);
