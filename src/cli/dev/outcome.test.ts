import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { outcomeObject, reasonsOf, SETTLE_MS, Waiting, type Expected } from './outcome.ts';
import type { Row } from '../watch/row.ts';

function one(name: string, row?: Partial<Row>): Expected {
  if (row === undefined) return { kind: 'Box', name };
  const shared = { kind: 'Box', name, reason: '', message: '', phase: '', address: '', age: '1s' };
  return { kind: 'Box', name, row: { ...shared, ready: 'False', stalled: false, ...row } };
}

const READY = one('ready', { ready: 'True', reason: 'Settled' });
const STALLED = one('stalled', {
  stalled: true,
  reason: 'NeedsUser',
  message: 'spec.events nest in a cycle',
});
const WAITING = one('waiting', { reason: 'WaitingForReference', message: 'Box stalled is not Ready' });
const AT_WORK = one('at-work', { reason: 'Deploying', message: 'Waits for the end of deploy' });

function make(untilStalled = true) {
  const clock = new VirtualClock();
  const waiting = new Waiting(clock, { untilStalled });
  const seen: string[] = [];
  void waiting.end.then((outcome) => seen.push(outcome));
  return { clock, waiting, seen };
}

describe('waiting', () => {
  it('ends as soon as everything is Ready', async () => {
    const { clock, waiting, seen } = make();
    waiting.update([READY, AT_WORK]);
    await clock.advance(60_000);
    expect(seen).toEqual([]);
    waiting.update([READY, READY]);
    await clock.advance(0);
    expect(seen).toEqual(['Ready']);
  });

  it('ends when one is stalled and the others are Ready, stalled or wait for something', async () => {
    const { clock, waiting, seen } = make();
    waiting.update([READY, STALLED, WAITING]);
    await clock.advance(SETTLE_MS - 1);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(['Stalled']);
  });

  it.each([
    ['is under way', AT_WORK],
    ['has not been looked at', one('new', { ready: 'Unknown' })],
    ['is not there yet', one('absent')],
  ])('goes on while another one %s', async (_, other) => {
    const { clock, waiting, seen } = make();
    waiting.update([STALLED, other]);
    await clock.advance(60_000);
    expect(seen).toEqual([]);
  });

  it('begins to settle anew when something moves in between', async () => {
    const { clock, waiting, seen } = make();
    waiting.update([STALLED]);
    await clock.advance(SETTLE_MS - 1);
    waiting.update([AT_WORK]);
    waiting.update([STALLED]);
    await clock.advance(SETTLE_MS - 1);
    expect(seen).toEqual([]);
    await clock.advance(1);
    expect(seen).toEqual(['Stalled']);
  });

  it('goes on where somebody is there to mend what is stalled', async () => {
    const { clock, waiting, seen } = make(false);
    waiting.update([STALLED]);
    await clock.advance(60_000);
    expect(seen).toEqual([]);
    waiting.update([READY]);
    await clock.advance(0);
    expect(seen).toEqual(['Ready']);
  });

  it('waits for what never stalls', async () => {
    const { clock, waiting, seen } = make();
    waiting.update([READY, WAITING]);
    await clock.advance(60_000);
    expect(seen).toEqual([]);
  });
});

describe('what is told at the end', () => {
  it('names each resource that is not Ready, its reason, and the next step', () => {
    expect(reasonsOf([READY, STALLED, one('new', { ready: 'Unknown' }), one('absent')])).toEqual([
      'Box/stalled: NeedsUser: spec.events nest in a cycle',
      '  The message names the field, its value and the next step. Edit the resource accordingly.',
      'Box/new: not looked at yet',
      'Box/absent: not there',
    ]);
  });

  it('is an object for programs', () => {
    const facts = { namespace: 'demo', ms: 4_321, onlineMs: 1_000 };
    expect(outcomeObject('Stalled', [READY, STALLED], facts)).toEqual({
      outcome: 'Stalled',
      namespace: 'demo',
      seconds: 4.3,
      firstInstanceOnlineSeconds: 1,
      resources: [
        { kind: 'Box', name: 'ready', ready: 'True', stalled: false, reason: 'Settled', message: '' },
        {
          kind: 'Box',
          name: 'stalled',
          ready: 'False',
          stalled: true,
          reason: 'NeedsUser',
          message: 'spec.events nest in a cycle',
          nextStep:
            'The message names the field, its value and the next step. Edit the resource accordingly.',
        },
      ],
    });
  });
});
