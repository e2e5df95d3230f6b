import type { Plan } from './run.ts';
import type { Step } from './steps.ts';

/** A fault of the operator that is known and not mended yet. */
export interface Finding {
  /** Its number in the list of findings. */
  id: string;
  what: string;
  /** Steps that lead there, beside waiting: what a search for it draws from. */
  among: readonly Step[];
  /** What is objected to, whichever way it is come upon. */
  shows: RegExp;
  /** Whether a plan can come upon it: such plans tell nothing new. */
  touches: (plan: Plan) => boolean;
  /** The shortest plan that was found. */
  shortest: Plan;
}

const wait = (seconds: number): Step => ({ do: 'wait', seconds });
const edit = (spec: Record<string, unknown>): Step => ({
  do: 'edit',
  kind: 'Instance',
  name: 'web-eu',
  spec,
});
const asked = (annotation: 'requestReinstall' | 'requestedAt', value: string): Step => ({
  do: 'annotate',
  kind: 'Instance',
  name: 'web-eu',
  annotation,
  value,
});
const any = (plan: Plan, what: (step: Step) => boolean): boolean => plan.steps.some(what);

/** What is known and open. An entry goes with its mend: its plan has to pass then. */
export const OPEN_FINDINGS: readonly Finding[] = [
  {
    id: 'H1',
    what: 'a finalizer goes while the record still terminates, where reads miss it for seconds',
    among: [
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
      { do: 'blind', to: 'instances', with: 404, lists: true, seconds: 4 },
      { do: 'blind', to: 'instances', with: 403, lists: true, seconds: 4 },
    ],
    shows: /^absence .*its finalizer goes while/,
    touches: (plan) =>
      any(plan, (step) => step.do === 'blind' && step.lists) && any(plan, (step) => step.do === 'delete'),
    shortest: {
      opening: 'an instance',
      steps: [
        { do: 'delete', kind: 'Instance', name: 'web-eu' },
        wait(2),
        { do: 'blind', to: 'instances', with: 404, lists: true, seconds: 4 },
      ],
    },
  },
  {
    id: 'H2',
    what: 'a second record is made where reads miss the first for twenty seconds',
    among: [
      edit({ onMissing: 'Recreate' }),
      { do: 'blind', to: 'everything', with: 404, lists: true, seconds: 20 },
      { do: 'blind', to: 'boxes', with: 404, lists: true, seconds: 40 },
      wait(1_200),
    ],
    shows: /^absence .*(status lets go|a second record)|which nobody holds|NameTaken/,
    touches: (plan) => any(plan, (step) => step.do === 'blind' && step.lists && step.seconds > 10),
    shortest: {
      opening: 'an instance',
      steps: [wait(300), { do: 'blind', to: 'boxes', with: 404, lists: true, seconds: 40 }],
    },
  },
  {
    id: 'B11',
    what: 'an empty adopt annotation, or one that is no id, leads to calls that cannot be made',
    among: [
      { do: 'apply', what: 'Instance/web-us' },
      { do: 'annotate', kind: 'Instance', name: 'web-us', annotation: 'adopt', value: '' },
      { do: 'annotate', kind: 'Instance', name: 'web-us', annotation: 'adopt', value: '../../boxes' },
    ],
    shows: /BadId/,
    touches: (plan) =>
      any(
        plan,
        (step) =>
          step.do === 'annotate' && step.annotation === 'adopt' && step.value?.startsWith('i-') === false,
      ),
    shortest: {
      opening: 'an instance',
      steps: [
        { do: 'apply', what: 'Instance/web-us' },
        { do: 'annotate', kind: 'Instance', name: 'web-us', annotation: 'adopt', value: '' },
      ],
    },
  },
  {
    id: 'I1',
    what: 'an operation that ends while its instance is paused, waits for a reference or loses its record shows as running for ever',
    among: [
      edit({ variables: [] }),
      edit({ powerState: 'Stopped' }),
      { do: 'annotate', kind: 'Instance', name: 'web-eu', annotation: 'paused', value: 'true' },
      edit({ paused: true }),
    ],
    shows: /still has an operation under way/,
    touches: (plan) =>
      any(
        plan,
        (step) =>
          (step.do === 'delete' && step.kind === 'Secret') ||
          (step.do === 'by hand' && step.what === 'remove') ||
          (step.do === 'edit' && step.spec['paused'] === true) ||
          (step.do === 'annotate' && step.annotation === 'paused' && step.value === 'true'),
      ),
    shortest: {
      opening: 'an instance',
      steps: [
        edit({ variables: [] }),
        wait(1),
        { do: 'annotate', kind: 'Instance', name: 'web-eu', annotation: 'paused', value: 'true' },
      ],
    },
  },
  {
    id: 'I2',
    what: 'an operation is sent although the read right before it shows another one running',
    among: [
      asked('requestReinstall', 'once'),
      edit({ powerState: 'Stopped' }),
      { do: 'by hand', what: 'shutdown' },
      { do: 'by hand', what: 'poweron' },
    ],
    shows: /^one at a time .*although the instance was seen processing/,
    touches: (plan) => any(plan, (step) => step.do === 'by hand' && /shutdown|poweron/.test(step.what)),
    shortest: {
      opening: 'an instance',
      steps: [
        asked('requestReinstall', 'once'),
        { do: 'lists trail', polls: 5 },
        { do: 'by hand', what: 'shutdown' },
      ],
    },
  },
  {
    id: 'M9',
    what: 'after a Connection has moved, what was made elsewhere is not seen for ever, and nothing says why',
    among: [
      { do: 'move', to: 'other' },
      { do: 'apply', what: 'Box/over' },
      { do: 'delete', kind: 'Instance', name: 'web-eu' },
    ],
    shows: /not seen/,
    touches: (plan) => any(plan, (step) => step.do === 'move' && step.to === 'other'),
    shortest: {
      opening: 'an instance',
      steps: [{ do: 'move', to: 'other' }, { do: 'apply', what: 'Box/over' }, wait(70)],
    },
  },
  {
    id: 'I4',
    what: 'a variable that somebody changes on the service beside an edit of the spec is put right without an operation',
    among: [
      edit({ variables: [{ name: 'PORT', type: 'Port', value: '81' }] }),
      edit({ tags: ['Shop'] }),
      { do: 'by hand', what: 'value' },
      { do: 'apply', what: 'contents' },
    ],
    shows: /^ready truth .*no operation has brought them/,
    touches: (plan) => any(plan, (step) => step.do === 'by hand' && step.what === 'value'),
    shortest: {
      opening: 'an instance',
      steps: [
        edit({ variables: [{ name: 'PORT', type: 'Port', value: '81' }] }),
        edit({ tags: ['Shop'] }),
        { do: 'delete', kind: 'Box', name: 'over' },
        { do: 'apply', what: 'contents' },
        { do: 'by hand', what: 'value' },
        wait(1),
      ],
    },
  },
  {
    id: 'I3',
    what: 'Ready is True for a moment while a lease in the past is not in place, where applyChanges is None',
    among: [
      edit({ variables: [{ name: 'NOTE', type: 'Text', value: 'changed' }] }),
      edit({ applyChanges: 'None' }),
      edit({ lease: { operation: 'Shutdown', expireAt: '2025-12-31T00:00:00Z' } }),
    ],
    shows: /^ready truth .*(lease|end) undefined/,
    touches: (plan) => any(plan, (step) => step.do === 'edit' && step.spec['applyChanges'] === 'None'),
    shortest: {
      opening: 'an instance',
      steps: [
        edit({ applyChanges: 'None' }),
        edit({ lease: { operation: 'Shutdown', expireAt: '2025-12-31T00:00:00Z' } }),
        edit({ variables: [{ name: 'NOTE', type: 'Text', value: 'ends with blanks  ' }] }),
      ],
    },
  },
  {
    id: 'I5',
    what: 'Ready is True for a moment after a PUT of a box that was answered with what the record had before',
    among: [
      { do: 'answer', call: 'put box', with: 'yes, and does nothing', times: 1 },
      { do: 'edit', kind: 'Box', name: 'web', spec: { events: { install: { inline: 'echo other' } } } },
    ],
    shows: /^ready truth .*event install/,
    touches: (plan) =>
      any(
        plan,
        (step) => step.do === 'answer' && step.call === 'put box' && step.with === 'yes, and does nothing',
      ),
    shortest: {
      opening: 'an instance',
      steps: [
        { do: 'answer', call: 'put box', with: 'yes, and does nothing', times: 1 },
        { do: 'edit', kind: 'Box', name: 'web', spec: { events: { install: { inline: 'echo other' } } } },
      ],
    },
  },
];

/** A plan without the steps that would come upon what is known. */
export function prune(plan: Plan): Plan {
  const steps: Step[] = [];
  for (const step of plan.steps) {
    const longer = { ...plan, steps: [...steps, step] };
    if (!OPEN_FINDINGS.some(({ touches }) => touches(longer))) steps.push(step);
  }
  return { ...plan, steps };
}
