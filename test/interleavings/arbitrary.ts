import * as fc from 'fast-check';
import type { Opening, Plan } from './run.ts';
import { FOR_EVER, type Step, type Sudden } from './steps.ts';
import type { Refusal, WriteName } from './cluster-weather.ts';
import type { Oddity } from './oddities.ts';
import { CALLS, type Answer, type CallName, type Habit, type Silent } from './weather.ts';

/** Seconds between two steps. Hours let show what is repeated; minutes and less are where most goes wrong. */
const waits: fc.Arbitrary<Step> = fc
  .oneof(
    { weight: 8, arbitrary: fc.constantFrom(1, 5, 20, 70) },
    { weight: 3, arbitrary: fc.constantFrom(300, 1_200) },
    { weight: 1, arbitrary: fc.constantFrom(4_000, 20_000) },
  )
  .map((seconds): Step => ({ do: 'wait', seconds }));
const ANSWERS: readonly Answer[] = [
  'lost',
  'reset',
  500,
  503,
  '500 after',
  429,
  '429 for 60 s',
  '503 for 60 s',
  'yes, and does nothing',
  401,
  403,
  404,
  409,
  400,
  422,
  'late',
  'too late',
  'after all',
  'a page',
  'half an answer',
];
const HABITS: readonly Habit[] = [
  'lower-cases tags',
  'drops the last tag',
  'trims values',
  'keeps variables as they are',
  'refuses PORT 666',
  'drops the lease',
];
const ODDITIES: readonly (Oddity | 'none')[] = [
  'machines of one name',
  'a machine without a name',
  'very long texts',
  'empty emails and provider names',
  'nulls where texts belong',
  'texts cut inside a character',
  'states that nobody knows',
  'events that nobody knows',
  'instances without an operation',
  'tags that are no list',
  'variables twice',
  'none',
];
const TOKENS = ['once', 'twice', '', 'x'.repeat(250), 'y'.repeat(300), '\u{1f600}'.repeat(130)] as const;

const edits: readonly Step[] = [
  ...[{ tags: ['Shop'] }, { tags: ['Shop', 'eu'] }, { tags: [] }].map(edit),
  ...[
    [{ name: 'PORT', type: 'Port', value: '81' }],
    [{ name: 'PORT', type: 'Port', value: '666' }],
    [{ name: 'NOTE', type: 'Text', value: 'ends with blanks  ' }],
    [],
  ].map((variables) => edit({ variables })),
  ...['Stopped', 'Running', null].map((powerState) => edit({ powerState })),
  ...['Reconfigure', 'Reinstall', 'None'].map((applyChanges) => edit({ applyChanges })),
  ...['Report', 'Ignore', 'Correct'].map((driftPolicy) => edit({ driftPolicy })),
  ...[true, false].map((paused) => edit({ paused })),
  ...[true, false].map((terminationProtection) => edit({ terminationProtection })),
  ...['Recreate', 'Hold'].map((onMissing) => edit({ onMissing })),
  ...[
    { operation: 'Shutdown', expireAt: '2026-01-01T01:00:00Z' },
    { operation: 'Terminate', after: '1h', expireAt: null },
    { operation: 'Shutdown', expireAt: '2025-12-31T00:00:00Z', after: null },
    { operation: 'Shutdown', expireAt: '9999-12-31T23:59:59Z', after: null },
    null,
  ].map((lease) => edit({ lease })),
  { do: 'edit', kind: 'Box', name: 'web', spec: { description: 'changed' } },
  { do: 'edit', kind: 'Box', name: 'web', spec: { events: { install: { inline: 'echo other' } } } },
  { do: 'edit', kind: 'Box', name: 'web', spec: { name: 'renamed' } },
  { do: 'edit', kind: 'PolicyBox', name: 'small', spec: { description: 'changed' } },
  {
    do: 'edit',
    kind: 'InstanceLease',
    name: 'evening',
    spec: { after: '3h' },
  },
];

function edit(spec: Record<string, unknown>): Extract<Step, { do: 'edit' }> {
  return { do: 'edit', kind: 'Instance', name: 'web-eu', spec };
}

const annotations: fc.Arbitrary<Step> = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('requestReinstall', 'requestReconfigure', 'requestRedeploy'),
      fc.constantFrom(...TOKENS),
    )
    .map(([annotation, value]): Step => ({
      do: 'annotate',
      kind: 'Instance',
      name: 'web-eu',
      annotation: annotation as 'requestReinstall',
      value,
    })),
  fc
    .tuple(
      fc.constantFrom(
        ['Instance', 'web-eu'],
        ['Box', 'web'],
        ['PolicyBox', 'small'],
        ['Connection', 'main'],
        ['InstanceLease', 'evening'],
      ),
      fc.constantFrom(...TOKENS),
    )
    .map(([[kind, name], value]): Step => ({
      do: 'annotate',
      kind: kind as 'Box',
      name: name as string,
      annotation: 'requestedAt',
      value,
    })),
  fc.constantFrom(...TOKENS).map((value): Step => ({
    do: 'annotate',
    kind: 'InstanceLease',
    name: 'evening',
    annotation: 'renew',
    value,
  })),
  fc
    .constantFrom('', '../../boxes', 'i-nobody')
    .map((value): Step => ({ do: 'annotate', kind: 'Instance', name: 'web-us', annotation: 'adopt', value })),
  fc.constantFrom('true', 'false', null).map((value): Step => ({
    do: 'annotate',
    kind: 'Instance',
    name: 'web-eu',
    annotation: 'paused',
    value,
  })),
);

const calls = fc.constantFrom(...(Object.keys(CALLS) as CallName[]));

const answers: fc.Arbitrary<Step> = fc
  .tuple(calls, fc.constantFrom(...ANSWERS), fc.constantFrom(1, 2, 5, FOR_EVER))
  .map(([call, answer, times]): Step => ({ do: 'answer', call, with: answer, times }));

const cluster: fc.Arbitrary<Step> = fc
  .tuple(
    fc.constantFrom<WriteName[]>('status', 'metadata'),
    fc.constantFrom<Refusal[]>('lost', 'reset', 409, 403, 429, 500, 503),
    fc.constantFrom(1, 2, 5),
  )
  .map(([write, refusal, times]): Step => ({ do: 'cluster', write, with: refusal, times }));

/** What may happen while a call is under way. */
const SUDDEN: readonly Sudden[] = [
  edit({ tags: ['Shop', 'eu'] }),
  edit({ variables: [{ name: 'PORT', type: 'Port', value: '81' }] }),
  edit({ powerState: 'Stopped' }),
  edit({ lease: { operation: 'Shutdown', expireAt: '2026-01-01T01:00:00Z' } }),
  edit({ paused: true }),
  { do: 'edit', kind: 'Box', name: 'web', spec: { description: 'changed' } },
  { do: 'annotate', kind: 'Instance', name: 'web-eu', annotation: 'requestReinstall', value: 'once' },
  { do: 'delete', kind: 'Instance', name: 'web-eu' },
  { do: 'delete', kind: 'Box', name: 'web' },
  { do: 'secret', value: 'second-password' },
  { do: 'by hand', what: 'shutdown' },
  { do: 'by hand', what: 'value' },
  { do: 'by hand', what: 'tag' },
  { do: 'by hand', what: 'remove' },
  { do: 'crash' },
];
const sudden: fc.Arbitrary<Step> = fc
  .tuple(calls, fc.constantFrom<('before' | 'after')[]>('before', 'after'), fc.constantFrom(...SUDDEN))
  .map(([call, when, step]): Step => ({ do: 'upon', call, when, step }));

/** One step, whatever it is. */
export const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: waits },
  { weight: 8, arbitrary: fc.constantFrom(...edits) },
  { weight: 4, arbitrary: annotations },
  { weight: 4, arbitrary: answers },
  { weight: 2, arbitrary: cluster },
  { weight: 3, arbitrary: sudden },
  {
    weight: 1,
    arbitrary: fc.constantFrom(4, 20, 40).map((seconds): Step => ({ do: 'reads trail', seconds })),
  },
  { weight: 1, arbitrary: fc.constantFrom(20, 300).map((seconds): Step => ({ do: 'mute', seconds })) },
  { weight: 2, arbitrary: fc.constantFrom(...HABITS).map((habit): Step => ({ do: 'habit', habit })) },
  { weight: 1, arbitrary: fc.constantFrom(...ODDITIES).map((oddity): Step => ({ do: 'odd', oddity })) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.constantFrom('everything', 'instances', 'boxes'),
        fc.constantFrom(404, 403),
        fc.boolean(),
        fc.constantFrom(4, 20, 40, 300),
      )
      .map(([to, status, lists, seconds]): Step => ({
        do: 'blind',
        to: to as 'boxes',
        with: status as 404,
        lists,
        seconds,
      })),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom<Silent[]>('service', 'API server'), fc.constantFrom(5, 40, 300))
      .map(([who, seconds]): Step => ({ do: 'silent', who, seconds })),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step[]>(
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
      { do: 'delete', kind: 'Instance', name: 'web-us' },
      { do: 'delete', kind: 'Box', name: 'web' },
      { do: 'delete', kind: 'Box', name: 'over' },
      { do: 'delete', kind: 'PolicyBox', name: 'small' },
      { do: 'delete', kind: 'InstanceLease', name: 'evening' },
      { do: 'delete', kind: 'Secret', name: 'web-admin' },
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Step[]>(
      { do: 'apply', what: 'contents' },
      { do: 'apply', what: 'Box/web' },
      { do: 'apply', what: 'Box/over' },
      { do: 'apply', what: 'PolicyBox/small' },
      { do: 'apply', what: 'Instance/web-eu' },
      { do: 'apply', what: 'Instance/web-us' },
      { do: 'apply', what: 'InstanceLease/evening' },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Step[]>(
      { do: 'crash' },
      { do: 'end watches' },
      { do: 'jump', seconds: 7_200 },
      { do: 'jump', seconds: -7_200 },
      { do: 'lists trail', polls: 5 },
      { do: 'lists trail', polls: 0 },
      { do: 'revoke tokens' },
      { do: 'rotate credentials' },
      { do: 'move', to: 'other' },
      { do: 'move', to: 'back' },
      { do: 'secret', value: 'second-password' },
      { do: 'secret', value: 'first-password' },
      { do: 'passwords', as: 'masked' },
      { do: 'passwords', as: 'plain' },
      { do: 'adopt', by: 'web-us', of: 'web-eu' },
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('shutdown', 'poweron', 'terminate', 'remove', 'tag', 'value', 'fail next')
      .map((what): Step => ({ do: 'by hand', what: what as 'tag' })),
  },
);

export interface PlanOptions {
  /** The longest plan, steps. @default 10 */
  longest?: number;
  /** What a plan may be made of. @default {@link anyStep} */
  step?: fc.Arbitrary<Step>;
  /** Leaves steps out: what is known to fail is not found again and again. */
  prune?: (plan: Plan) => Plan;
}

/** Plans, shrinking to fewer and simpler steps. */
export function plans({
  longest = 10,
  step = anyStep,
  prune = (plan) => plan,
}: PlanOptions = {}): fc.Arbitrary<Plan> {
  return fc
    .record({
      opening: fc.constantFrom<Opening[]>('an instance', 'an instance with a lease', 'nothing'),
      steps: fc.array(step, { minLength: 1, maxLength: longest, size: 'max' }),
    })
    .map(prune);
}
