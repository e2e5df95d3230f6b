import { describe, expect, it } from 'vitest';
import { KINDS } from '../../../api/kinds.ts';
import { ANNOTATION_NOTES, ANNOTATIONS } from '../../../api/names.ts';
import { seen } from '../status/test-resource.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import { ASKS, type Ask } from './asks.ts';
import { outcomeOf } from './outcome.ts';
import { takersOf } from './takers.ts';

function ask(command: string): Ask {
  const found = ASKS.find((one) => one.command === command);
  if (found === undefined) throw new Error(command);
  return found;
}

function takers(command: string): string[] {
  return takersOf(ask(command)).map(({ kind }) => kind);
}

describe('a request', () => {
  it('goes to the kinds whose definition has a place for it', () => {
    expect(takers('refresh')).toEqual(KINDS.map(({ kind }) => kind));
    expect(takers('renew')).toEqual(['InstanceLease']);
    expect(takers('reinstall')).toEqual(['Instance']);
    expect(takers('pause')).not.toContain('Connection');
    for (const one of ASKS) expect(takersOf(one)).not.toEqual([]);
  });

  it('is there for every annotation that a user sets, but for the choice of a record', () => {
    const keys = Object.keys(ANNOTATIONS) as (keyof typeof ANNOTATIONS)[];
    const users = keys.filter((key) => ANNOTATION_NOTES[key].writtenBy === 'user' && key !== 'adopt');
    expect(new Set(ASKS.map(({ annotation }) => annotation))).toEqual(
      new Set(users.map((key) => ANNOTATIONS[key])),
    );
  });
});

function of(command: string, resource: WatchedResource, token = 'now') {
  return outcomeOf(ask(command), token, resource);
}

describe('the outcome of a request', () => {
  const answered = { handledRequests: { reinstall: 'now' } } as object;

  it('is there once the operation has ended and all is Ready', () => {
    expect(of('reinstall', seen('Instance', 'web', {}))).toBeUndefined();
    expect(of('reinstall', seen('Instance', 'web', {}, {}, answered))).toEqual({ ok: true, text: 'Settled' });
    const working = { ...answered, currentOperation: { event: 'reinstall' } };
    expect(of('reinstall', seen('Instance', 'web', {}, {}, working))).toBeUndefined();
  });

  it('is a failure where it is refused, or a person has to act', () => {
    const refusedRequest = { operation: 'reinstall', message: 'not while it is off' };
    expect(
      of('reinstall', seen('Instance', 'web', {}, {}, { ...answered, refusedRequest } as object)),
    ).toEqual({
      ok: false,
      text: 'refused: not while it is off',
    });
    const conditions = [
      { type: 'Stalled', status: 'True', reason: 'OperationFailed', message: '', observedGeneration: 1 },
    ];
    const ready = { status: 'False', reason: 'OperationFailed', message: 'exit 1' };
    expect(of('reinstall', seen('Instance', 'web', {}, ready, { ...answered, conditions }))).toEqual({
      ok: false,
      text: 'OperationFailed: exit 1',
    });
  });

  it('of a look is there when the operator has looked, whatever it found', () => {
    const looked = { lastHandledRequest: 'now' } as object;
    const ready = { status: 'False', reason: 'Refused', message: 'no' };
    expect(of('refresh', seen('Box', 'web', {}, ready, looked))).toEqual({ ok: true, text: 'Refused: no' });
    expect(of('refresh', seen('Box', 'web', {}, ready))).toBeUndefined();
  });

  it('of a switch is there when the operator has looked after it', () => {
    const looked = { lastHandledRequest: 'now' } as object;
    expect(of('pause', seen('Box', 'web', {}))).toBeUndefined();
    expect(of('pause', seen('Box', 'web', {}, { reason: 'Paused' }, looked))).toEqual({
      ok: true,
      text: 'Paused',
    });
    expect(of('resume', seen('Box', 'web', {}, {}, looked))).toEqual({ ok: true, text: 'Settled' });
    const working = { status: 'False', reason: 'Updating' };
    expect(of('resume', seen('Box', 'web', {}, working, looked))).toBeUndefined();
  });
});
