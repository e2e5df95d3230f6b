import type { KindName } from '../../src/api/kinds.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';
import type { World } from '../support/world.ts';
import type { Refusal, WriteName } from './cluster-weather.ts';
import type { Oddity } from './oddities.ts';
import type { Answer, CallName, Habit, Silent, Weather } from './weather.ts';

/** What one step is done to. */
export interface Place {
  world: World;
  weather: Weather;
  /** A second service that knows the account and none of the records. */
  otherEndpoint: string;
}

/** One step of an interleaving: plain data, so that a plan reads as a script. */
export type Step =
  | { do: 'wait'; seconds: number }
  | { do: 'edit'; kind: KindName; name: string; spec: Record<string, unknown> }
  | {
      do: 'annotate';
      kind: KindName;
      name: string;
      annotation: keyof typeof ANNOTATIONS;
      value: string | null;
    }
  | { do: 'adopt'; by: string; of: string }
  | { do: 'delete'; kind: KindName | 'Secret'; name: string }
  | { do: 'apply'; what: keyof typeof MANIFESTS }
  | { do: 'secret'; value: string }
  | { do: 'move'; to: 'other' | 'back' }
  | { do: 'by hand'; what: 'shutdown' | 'poweron' | 'terminate' | 'remove' | 'tag' | 'value' | 'fail next' }
  | { do: 'revoke tokens' }
  | { do: 'rotate credentials' }
  | { do: 'answer'; call: CallName; with: Answer; times: number }
  | { do: 'habit'; habit: Habit }
  | { do: 'odd'; oddity: Oddity | 'none' }
  | {
      do: 'blind';
      to: 'everything' | 'instances' | 'boxes';
      with: 404 | 403;
      lists: boolean;
      seconds: number;
    }
  | { do: 'silent'; who: Silent; seconds: number }
  | { do: 'lists trail'; polls: number }
  | { do: 'reads trail'; seconds: number }
  | { do: 'cluster'; write: WriteName; with: Refusal; times: number }
  | { do: 'mute'; seconds: number }
  | { do: 'upon'; call: CallName; when: 'before' | 'after'; step: Sudden }
  | { do: 'passwords'; as: 'plain' | 'masked' }
  | { do: 'crash' }
  | { do: 'jump'; seconds: number }
  | { do: 'end watches' };

/** What can happen in no time, and so in the middle of a pass. */
export type Sudden = Extract<Step, { do: 'edit' | 'annotate' | 'delete' | 'secret' | 'by hand' | 'crash' }>;

/** Seconds that pass at a time. */
const SLICE_S = 300;

/** A value that stands for "for ever". */
export const FOR_EVER = 1_000_000;

const INSTANCE = `
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: NAME}
spec:
  connectionRef: {name: main}
  boxRef: {name: web}
  policyBoxRef: {name: small}
  variables:
    - {name: PORT, type: Port, value: '80'}
    - {name: ADMIN_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: web-admin, key: password}}}
  tags: [Shop]
  applyChanges: Reconfigure
`;

/** What can be applied, also again after it was deleted. */
export const MANIFESTS = {
  contents: `
apiVersion: v1
kind: Secret
metadata: {name: web-admin}
stringData: {password: first-password}
`,
  'Box/web': `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  requirements: [Linux]
  variables:
    - {name: PORT, type: Port, value: '8080'}
    - {name: ADMIN_PASSWORD, type: Password, valueFrom: {secretKeyRef: {name: web-admin, key: password}}}
  events: {install: {inline: echo installing}}
`,
  'Box/over': `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: over}
spec:
  connectionRef: {name: main}
  variables:
    - {name: web, type: Box, boxRef: {name: web}}
`,
  'PolicyBox/small': `
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  providerId: 00000000-0000-4000-8000-000000000001
  claims: [Linux]
  profile: {schema: test/compute/profile, properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}}
`,
  'Instance/web-eu': INSTANCE.replace('NAME', 'web-eu'),
  'Instance/web-us': INSTANCE.replace('NAME', 'web-us'),
  'InstanceLease/evening': `
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: evening}
spec: {instanceRef: {name: web-eu}, operation: Shutdown, after: 2h}
`,
} as const;

/** A step in words, a line of a script. */
export function inWords(step: Step): string {
  switch (step.do) {
    case 'wait':
      return `wait ${step.seconds} s`;
    case 'edit':
      return `edit ${step.kind}/${step.name} ${JSON.stringify(step.spec)}`;
    case 'annotate': {
      const value =
        step.value !== null && step.value.length > 40 ? `${step.value.length} characters` : step.value;
      return `annotate ${step.kind}/${step.name} ${step.annotation}=${value === null ? '(gone)' : JSON.stringify(value)}`;
    }
    case 'adopt':
      return `let Instance/${step.by} adopt the record of Instance/${step.of}`;
    case 'delete':
      return `delete ${step.kind}/${step.name}`;
    case 'apply':
      return `apply ${step.what}`;
    case 'secret':
      return `change the Secret's password to ${JSON.stringify(step.value)}`;
    case 'move':
      return step.to === 'other' ? 'move the Connection to another service' : 'move the Connection back';
    case 'by hand':
      return `somebody on the service: ${step.what}`;
    case 'answer':
      return `the service answers ${step.with} to "${step.call}", ${step.times === FOR_EVER ? 'for ever' : `${step.times} times`}`;
    case 'habit':
      return `the service ${step.habit}`;
    case 'odd':
      return step.oddity === 'none'
        ? 'the service shows nothing odd any more'
        : `the service shows ${step.oddity}`;
    case 'blind':
      return `for ${step.seconds} s the service shows no ${step.to === 'everything' ? 'record' : step.to}: ${step.with}${step.lists ? ', in lists neither' : ''}`;
    case 'silent':
      return `for ${step.seconds} s the ${step.who} cannot be reached`;
    case 'passwords':
      return `the service shows passwords ${step.as}`;
    case 'lists trail':
      return `lists trail by ${step.polls} polls`;
    case 'reads trail':
      return `for ${step.seconds} s reads show records as they are now`;
    case 'cluster':
      return `the API server answers ${step.with} to writes of ${step.write}, ${step.times === FOR_EVER ? 'for ever' : `${step.times} times`}`;
    case 'mute':
      return `for ${step.seconds} s watches bring nothing`;
    case 'upon':
      return `right ${step.when} the next "${step.call}": ${inWords(step.step)}`;
    case 'jump':
      return `the operator's wall clock jumps by ${step.seconds} s`;
    default:
      return step.do;
  }
}

/** Does a step. What cannot be done in the present state (the resource is gone) is left out. */
export async function perform(step: Step, place: Place): Promise<void> {
  const { world, weather } = place;
  switch (step.do) {
    case 'wait':
      // In slices: once the judges object, what loops need not go on for hours.
      for (let left = step.seconds; left > 0 && world.judges.objections.length === 0; left -= SLICE_S)
        await world.advance(Math.min(left, SLICE_S) * 1_000);
      return;
    case 'edit':
      return orNot(() => world.edit(step.kind, step.name, step.spec));
    case 'annotate':
      return orNot(() =>
        world.annotate(step.kind, step.name, { [ANNOTATIONS[step.annotation]]: step.value }),
      );
    case 'adopt': {
      const id = world.get('Instance', step.of)?.status?.id;
      if (id !== undefined)
        await orNot(() => world.annotate('Instance', step.by, { [ANNOTATIONS.adopt]: id }));
      return;
    }
    case 'delete':
      return orNot(() => world.delete(step.kind, step.name));
    case 'apply':
      return orNot(() => world.apply(MANIFESTS[step.what]));
    case 'secret':
      return orNot(() =>
        world.apply(MANIFESTS.contents.replace('first-password', JSON.stringify(step.value))),
      );
    case 'move':
      return orNot(() =>
        world.edit('Connection', 'main', {
          endpoint: step.to === 'other' ? place.otherEndpoint : 'https://service.test',
        }),
      );
    case 'by hand':
      return byHand(step.what, world);
    case 'revoke tokens':
      world.sandbox.admin.revokeTokens();
      return;
    case 'rotate credentials': {
      const token = world.sandbox.admin.issueToken('ops@example.com');
      await orNot(() =>
        world.apply(`
apiVersion: v1
kind: Secret
metadata: {name: deploy-login}
stringData: {token: ${token}}
`),
      );
      return;
    }
    case 'answer':
      weather.answer(step.call, step.with, step.times);
      return;
    case 'habit':
      weather.habit(step.habit);
      return;
    case 'odd':
      weather.oddity(step.oddity === 'none' ? undefined : step.oddity);
      return;
    case 'blind':
      weather.blind(step.to, step.with, step.lists, world.clock.monotonic() + step.seconds * 1_000);
      return;
    case 'silent':
      weather.silence(step.who, world.clock.monotonic() + step.seconds * 1_000);
      if (step.who === 'API server') world.kube.endWatches('break');
      return;
    case 'passwords':
      world.sandbox.admin.setReadings({ passwords: step.as });
      return;
    case 'lists trail':
      world.sandbox.admin.setListLag({ polls: step.polls });
      return;
    case 'reads trail':
      weather.trail(world.clock.monotonic() + step.seconds * 1_000);
      return;
    case 'cluster':
      weather.cluster.answer(step.write, step.with, step.times);
      return;
    case 'mute':
      weather.cluster.mute(world.clock.monotonic() + step.seconds * 1_000);
      world.clock.setTimer(step.seconds * 1_000, () => world.judges.heard(step.seconds * 1_000));
      return;
    case 'upon':
      weather.upon(step.call, step.when, () => perform(step.step, place));
      return;
    case 'crash':
      // One that is down already is on its way.
      if (!world.isRunning) return;
      world.kill();
      world.clock.setTimer(1_000, () => world.start());
      return;
    case 'jump':
      world.clock.jumpWall(step.seconds * 1_000);
      return;
    case 'end watches':
      world.kube.endWatches('break');
      return;
    default:
      step satisfies never;
  }
}

async function byHand(what: Extract<Step, { do: 'by hand' }>['what'], world: World): Promise<void> {
  const { admin } = world.sandbox;
  world.judges.byHand();
  if (what === 'fail next') {
    admin.addOperationFault({ effect: 'fail', times: 1 });
    return;
  }
  const id = world.get('Instance', 'web-eu')?.status?.id;
  const record = admin.records('instances').find((one) => one.id === id) as
    { id: string; tags: string[]; variables: { name: string }[] } | undefined;
  if (record === undefined) return;
  const call = (method: string, path: string): Promise<unknown> =>
    world.sandbox.handle({
      method,
      path: `/services/instances/${record.id}${path}`,
      headers: { 'service-token': admin.issueToken('ops@example.com') },
      body: new Uint8Array(),
    });
  if (what === 'shutdown' || what === 'poweron') await call('PUT', `/${what}`);
  else if (what === 'terminate') await call('DELETE', '?operation=terminate');
  else if (what === 'remove') admin.removeRecord('instances', record.id);
  else if (what === 'tag') admin.editRecord('instances', record.id, { tags: [...record.tags, 'by-hand'] });
  else {
    const variables = record.variables.map((one) => (one.name === 'PORT' ? { ...one, value: '4444' } : one));
    admin.editRecord('instances', record.id, { variables });
  }
}

/** A person's command may be refused: the resource is gone, or the schema does not take it. */
async function orNot(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Error) || error.name === 'TimeStandsStill') throw error;
  }
}
