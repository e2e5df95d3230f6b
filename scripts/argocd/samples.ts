import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ANNOTATIONS, FINALIZER, REQUEST_ANNOTATIONS } from '../../src/api/names.ts';
import { factsOf, type Reason } from '../../src/api/reasons.ts';
import type { KindDefinition } from '../../src/api/schema/kind.ts';
import { NOT_OBSERVED, PAUSED_MESSAGE } from './lua.ts';
import type { Traits } from './traits.ts';

/** The objects on which Argo CD's own tests would try the scripts: the example of a kind, in telling states. */

/** What stands for the moment at which an action was run. */
export const STAMP = '2026-01-01T00:00:00Z';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'deploy', 'examples');
const TIME = '2026-01-01T00:00:00Z';

const LEASE = { operation: 'Shutdown', after: '8h' };
/** What the API server adds. */
const LIVE = {
  namespace: 'shop',
  uid: '6f1d3b0e-5c0a-4d9e-8a57-3a0f3a4f7c11',
  resourceVersion: '1',
  creationTimestamp: TIME,
  finalizers: [FINALIZER],
};

/** An object as YAML shows it. */
export interface Sample {
  apiVersion: string;
  kind: string;
  metadata: { annotations?: Record<string, string>; [field: string]: unknown };
  spec: Record<string, unknown>;
  status?: Record<string, unknown>;
}

/** A state, with what health.lua says of it and which actions discovery.lua disables. */
export interface State {
  object: Sample;
  health: { status: string; message: string };
  disabled: readonly string[] | 'all but';
  but?: string;
}

/** The states of a kind by name. */
export function statesOf(definition: KindDefinition, traits: Traits): Map<string, State> {
  const { metadata, ...rest } = exampleOf(definition.kind);
  const base: Sample = { ...rest, metadata: { ...LIVE, ...metadata, generation: 2 } };
  const up = traits.powered
    ? { id: 'i-1', phase: 'Online', state: 'done', operation: { event: 'deploy' } }
    : {};
  const make = (reason: Reason, more: object = {}): Sample => ({
    ...base,
    status: { observedGeneration: 2, conditions: conditions(reason), ...more },
  });
  const healthy = make('Settled', up);
  const idle = ['resume', 'start', 'redeploy', ...(traits.after === 'lease' ? ['renew'] : [])];
  const waits = traits.powered ? ['reinstall', 'reconfigure'] : [];
  const states = new Map<string, State>([
    [
      'new',
      state({ ...base, status: { observedGeneration: -1 } }, 'Progressing', NOT_OBSERVED, [
        ...idle,
        ...waits,
      ]),
    ],
    ['no-status', state(base, 'Progressing', NOT_OBSERVED, [...idle, ...waits])],
    ['progressing', told(make('Updating', up), 'Progressing', 'Updating', idle)],
    ['healthy', told(healthy, 'Healthy', 'Settled', idle)],
    ['degraded', told(make('Refused', up), 'Degraded', 'Refused', idle)],
    [
      'stale',
      state({ ...healthy, metadata: { ...base.metadata, generation: 3 } }, 'Progressing', NOT_OBSERVED, idle),
    ],
    [
      'deleting',
      allBut('reconcile', {
        object: { ...make('Deleting', up), metadata: { ...base.metadata, deletionTimestamp: TIME } },
        health: { status: 'Progressing', message: `Pending deletion: ${factsOf('Deleting').situation}` },
      }),
    ],
  ]);
  if (traits.pausable) {
    const health = { status: 'Suspended', message: PAUSED_MESSAGE };
    const annotated = { ...base.metadata, annotations: { [ANNOTATIONS.paused]: 'True' } };
    const byAnnotation = { ...healthy, metadata: annotated };
    states.set(
      'paused',
      allBut('resume', { object: { ...healthy, spec: { ...base.spec, paused: true } }, health }),
    );
    states.set('paused-by-annotation', allBut('resume', { object: byAnnotation, health }));
  }
  if (traits.powered) {
    const stopped = make('ShutDown', { ...up, phase: 'ShutDown', operation: { event: 'shutdown' } });
    const failed = make('OperationFailed', { ...up, phase: 'Failed', state: 'unavailable' });
    const down = ['resume', 'stop', 'reinstall', 'reconfigure', 'redeploy', 'renew'];
    const off = { ...stopped, spec: { ...base.spec, powerState: 'Stopped' } };
    const leased: Sample = { ...healthy, spec: { ...without(base.spec, 'leaseRef'), lease: LEASE } };
    states.set('leased', told(leased, 'Healthy', 'Settled', ['resume', 'start', 'redeploy']));
    states.set('stopped', told(off, 'Healthy', 'ShutDown', down));
    states.set('failed', told(failed, 'Degraded', 'OperationFailed', ['resume', 'start', ...waits, 'renew']));
  }
  return states;
}

/** The object after an action, with {@link STAMP} for the time; a copy. */
export function after(action: string, before: Sample): Sample {
  const { metadata } = before;
  const annotated = (name: string): Sample => ({
    ...before,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [name]: STAMP } },
  });
  const changed = (spec: object): Sample => ({ ...before, spec: { ...before.spec, ...spec } });
  switch (action) {
    case 'reconcile':
      return annotated(ANNOTATIONS.requestedAt);
    case 'renew':
      return annotated(ANNOTATIONS.renew);
    case 'reinstall':
    case 'reconfigure':
    case 'redeploy':
      return annotated(REQUEST_ANNOTATIONS[action]);
    case 'pause':
      return changed({ paused: true });
    case 'start':
      return changed({ powerState: 'Running' });
    case 'stop':
      return changed({ powerState: 'Stopped' });
    case 'resume': {
      const { annotations = {}, ...others } = metadata;
      const left = Object.entries(annotations).filter(([name]) => name !== ANNOTATIONS.paused);
      const kept = left.length === 0 ? {} : { annotations: Object.fromEntries(left) };
      return { ...changed({ paused: false }), metadata: { ...others, ...kept } };
    }
    default:
      throw new Error(`no action ${action}`);
  }
}

function without(spec: Sample['spec'], field: string): Sample['spec'] {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => name !== field));
}

function state(object: Sample, status: string, message: string, disabled: readonly string[]): State {
  return { object, health: { status, message }, disabled };
}

function told(object: Sample, status: string, reason: Reason, disabled: readonly string[]): State {
  return state(object, status, factsOf(reason).situation, disabled);
}

function allBut(but: string, rest: Pick<State, 'object' | 'health'>): State {
  return { ...rest, disabled: 'all but', but };
}

function conditions(reason: Reason): object[] {
  const { ready, also, situation } = factsOf(reason);
  const common = { observedGeneration: 2, lastTransitionTime: TIME, reason, message: situation };
  const first = { type: 'Ready', status: ready === 'AsBefore' ? 'True' : ready, ...common };
  return also === undefined ? [first] : [first, { type: also, status: 'True', ...common }];
}

/** The example of a kind: the file of deploy/examples that ends with it. */
function exampleOf(kind: string): Sample {
  const last = readdirSync(EXAMPLES)
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()
    .map(
      (name) =>
        parseAllDocuments(readFileSync(join(EXAMPLES, name), 'utf8'))
          .at(-1)
          ?.toJS() as Sample,
    );
  const found = last.find((object) => object.kind === kind);
  if (found === undefined) throw new Error(`deploy/examples has no file that ends with a ${kind}`);
  return found;
}
