import { KIND_NAMES } from '../../src/api/kinds.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { seedOwn } from '../faults/own.ts';
import { CONNECTION, seeded, World, type WorldOptions } from '../support/world.ts';
import { endState, independence } from './end.ts';
import { inWords, MANIFESTS, perform, type Step } from './steps.ts';
import { Weather } from './weather.ts';

const OTHER = 'https://other.test';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** What was refused is tried again within six hours, and a lag window and looks come after. */
const CALM_MS = 7 * HOUR_MS;
/** How long nothing may be written once all is settled. */
const STABLE_MS = 10 * MINUTE_MS;

/** What is there when a plan begins, beside box and policy box. */
export type Opening = 'nothing' | 'an instance' | 'an instance with a lease';

export interface Plan {
  opening: Opening;
  steps: readonly Step[];
}

/** What came of one run. */
export interface Verdict {
  /** What the judges, or the end, had to object to; nothing when all was well. */
  objections: string[];
}

/** A plan as a person reads it, a line a step. */
export function scriptOf({ opening, steps }: Plan): string {
  return [`begin with ${opening}`, ...steps.map(inWords)].map((line) => `  ${line}`).join('\n');
}

/** Runs a plan in a world of its own, and then lets all be well until everything has settled. */
export async function runPlan(plan: Plan, kinds: WorldOptions['kinds']): Promise<Verdict> {
  const clock = new VirtualClock();
  const weather = new Weather(clock);
  const other = createSandbox({
    clock,
    random: seeded(23),
    data: ':memory:',
    account: { email: 'ops@example.com', password: 'secret-password', token: 'token-of-ops' },
  });
  const world = new World({
    ...(kinds === undefined ? {} : { kinds }),
    clock,
    servicePort: (port) => weather.port(port),
    kubePort: (port) => weather.kube(port),
    others: { [OTHER]: other },
  });
  const place = { world, weather, otherEndpoint: OTHER };
  const objections: string[] = [];
  const rejected = (reason: unknown): void => {
    objections.push(
      `unhandled rejection: ${reason instanceof Error ? (reason.stack ?? '') : String(reason)}`,
    );
  };
  process.on('unhandledRejection', rejected);
  try {
    await open(world, plan.opening);
    for (const step of plan.steps) {
      await perform(step, place);
      if (world.judges.objections.length > 0) break;
    }
    if (world.judges.objections.length === 0) {
      await world.advance(Math.max(0, weather.badUntil - clock.monotonic()));
      objections.push(...(await independence(world, plan.steps)));
      await calm(world, weather);
      // What loops would go on for hours: what the judges have said is enough.
      if (world.judges.objections.length === 0) objections.push(...endState(world, plan.steps));
    }
  } catch (error) {
    objections.push(error instanceof Error ? error.message : String(error));
  } finally {
    world.kill();
    if (world.judges.objections.length === 0 && objections.length === 0) world.judges.end();
    objections.push(...world.judges.said());
    await world.sandbox.stop();
    await other.stop();
    process.off('unhandledRejection', rejected);
  }
  return { objections };
}

async function open(world: World, opening: Opening): Promise<void> {
  seedOwn(world);
  world.start();
  await world.apply(CONNECTION);
  for (const what of ['contents', 'Box/web', 'PolicyBox/small'] as const) await world.apply(MANIFESTS[what]);
  if (opening === 'an instance with a lease') await world.apply(MANIFESTS['InstanceLease/evening']);
  if (opening !== 'nothing') await world.apply(MANIFESTS['Instance/web-eu']);
  await world.until(() =>
    KIND_NAMES.filter((kind) => kind !== 'InstanceLease').every((kind) =>
      world.list(kind).every(({ metadata }) => world.ready(kind, metadata.name) === 'True'),
    ),
  );
  await world.advance(5_000);
}

/** All is well with the service, address and credentials are right: everything has its time to settle. */
async function calm(world: World, weather: Weather): Promise<void> {
  weather.clear();
  world.sandbox.admin.removeOperationFault();
  world.sandbox.admin.setListLag({});
  const token = world.sandbox.admin.issueToken('ops@example.com');
  await world.apply(CONNECTION.replace('token-of-ops', token));
  if (!world.isRunning) await world.advance(2_000);
  let quietSince = world.clock.monotonic();
  let writes = writesOf(world);
  const end = world.clock.monotonic() + CALM_MS;
  while (world.clock.monotonic() < end && world.judges.objections.length === 0) {
    await world.advance(MINUTE_MS);
    const now = writesOf(world);
    if (now !== writes) quietSince = world.clock.monotonic();
    writes = now;
    const quiet = world.clock.monotonic() - quietSince >= STABLE_MS;
    if (quiet && endState(world, []).length === 0) return;
  }
}

/** A number that grows with each write of the operator. */
function writesOf(world: World): string {
  const calls = world.sandbox.admin.calls().filter(({ method }) => method !== 'GET').length;
  return `${calls} ${world.kube.store.version}`;
}
