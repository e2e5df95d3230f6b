import { KIND_NAMES, type KindName } from '../../src/api/kinds.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';
import { isMarker } from '../../src/api/schema/rules.ts';
import { declaredOf } from '../judges/declared.ts';
import { hasEnded, homeOf } from '../judges/parts.ts';
import type { Shown, World } from '../support/world.ts';
import { FOR_EVER, type Step } from './steps.ts';

const PLURAL = { Box: 'boxes', PolicyBox: 'policyboxes', Instance: 'instances' } as const;

/** What is wrong where everything should have settled; `steps` tell what a person has asked to be left. */
export function endState(world: World, steps: readonly Step[]): string[] {
  const out: string[] = [];
  for (const kind of KIND_NAMES) {
    for (const resource of world.list(kind)) out.push(...unsettled(world, kind, resource));
  }
  const leaves = steps.some((step) => step.do === 'edit' && step.spec['deletionPolicy'] === 'Orphan');
  if (!leaves) out.push(...leftovers(world));
  return out;
}

function unsettled(world: World, kind: KindName, resource: Shown): string[] {
  const { metadata, status, spec } = resource;
  const name = `${kind}/${metadata.name}`;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const said = `${ready?.status} ${ready?.reason}: ${ready?.message}`;
  if (metadata.deletionTimestamp !== undefined)
    return ready?.reason === 'InUse' ||
      ready?.reason === 'Conflict' ||
      isPaused(resource) ||
      isElsewhere(world, resource, ready?.message ?? '') ||
      // Only a person may have it forced, or give up its protection.
      (ready?.reason === 'NeedsUser' && /forceTerminateAfter|terminationProtection/.test(ready.message))
      ? []
      : [`${name} is not gone: ${said}`];
  if (status?.observedGeneration !== metadata.generation)
    return [`${name} is not spoken of for generation ${metadata.generation}: ${said}`];
  if (status?.['currentOperation'] !== undefined)
    return [`${name} still has an operation under way: ${said}`];
  if (isElsewhere(world, resource, ready?.message ?? '')) return [];
  const stalled = status.conditions?.some(({ type }) => type === 'Stalled') === true;
  if (ready?.status !== 'True' && !stalled && !waits(ready?.reason) && !isPaused(resource))
    return [`${name} has not settled: ${said}`];
  if (ready?.status !== 'True' || !(kind in PLURAL) || isPaused(resource)) return [];
  if (spec['managementPolicy'] === 'Observe' || (spec['driftPolicy'] ?? 'Correct') !== 'Correct') return [];
  return undeclared(world, PLURAL[kind as keyof typeof PLURAL], resource).map(
    (what) => `${name} is Ready: ${what}`,
  );
}

/** Reasons that last as long as something else is not there. */
function waits(reason: string | undefined): boolean {
  return /^(WaitingForReference|WaitingForSecret|Paused|Conflict|RecordMissing)$/.test(reason ?? '');
}

/** Its record was found at another service than the Connection names by now: it waits until that is put right, and says so. */
function isElsewhere(world: World, { status, spec }: Shown, said: string): boolean {
  const { endpoint } = (status?.['home'] ?? {}) as { endpoint?: string };
  const { connectionRef } = spec as { connectionRef?: { name: string } };
  const now = world.get('Connection', connectionRef?.name ?? '')?.spec['endpoint'] as string | undefined;
  if (endpoint === undefined || now === undefined || endpoint === now) return false;
  return said.includes(endpoint) && said.includes(now);
}

function isPaused({ metadata, spec }: Shown): boolean {
  const said = metadata.annotations?.[ANNOTATIONS.paused];
  return spec['paused'] === true || (said !== undefined && said !== '' && said !== 'false');
}

function undeclared(world: World, plural: 'boxes' | 'policyboxes' | 'instances', resource: Shown): string[] {
  const table = plural === 'instances' ? 'instances' : 'boxes';
  const court = world.judges.court('end');
  const [id, home] = [resource.status?.id ?? '', homeOf(resource)];
  const record = court.record(table, id, home);
  if (record === undefined) return [`there is no record ${id} at ${home}`];
  if (hasEnded(record)) return [];
  const valueOf = (kind: 'secrets' | 'configmaps', key: string, item: string): ReadonlySet<string> => {
    const object = court.resource(kind, key) as unknown as { data?: Record<string, string> } | undefined;
    const value = object?.data?.[item];
    return new Set(
      value === undefined ? [] : [kind === 'secrets' ? Buffer.from(value, 'base64').toString() : value],
    );
  };
  return declaredOf(plural, resource, record, court, valueOf)
    .filter(({ holds }) => !holds)
    .map(({ what }) => what);
}

function leftovers(world: World): string[] {
  const held = new Set(
    KIND_NAMES.flatMap((kind) => world.list(kind)).flatMap(({ status, metadata }) => [
      status?.id,
      metadata.annotations?.[ANNOTATIONS.externalId],
      // Which of two is to stay is for a person to say.
      ...(status?.conditions?.some(({ reason }) => reason === 'Ambiguous') === true
        ? ((status['former'] ?? []) as { id: string }[]).map(({ id }) => id)
        : []),
    ]),
  );
  const court = world.judges.court('end');
  // A create whose outcome is not known went to a service that the Connection has left: a person was told.
  const isAway = KIND_NAMES.flatMap((kind) => world.list(kind)).some(saysSentElsewhere);
  return (['boxes', 'instances'] as const).flatMap((table) =>
    court
      .records(table)
      .filter((record) => !held.has(record.id) && !hasEnded(record))
      .filter((record) => !(isAway && isMarker(record.name)))
      .map((record) => `a service still has ${table}/${record.id} (${record.name}), which nobody holds`),
  );
}

function saysSentElsewhere({ metadata, status }: Shown): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isOpen = metadata.annotations?.[ANNOTATIONS.createIntent] !== undefined;
  return isOpen && ready?.reason === 'NeedsUser' && ready.message.includes('went to');
}

/** What half an hour is enough for, however long the service refuses something else. */
const ENOUGH_MS = 30 * 60_000;

/**
 * While one call is refused for ever, whatever does not need it goes through. Looks only where nothing else is
 * wrong with the service, and at an instance that is there and has not failed.
 */
export async function independence(world: World, steps: readonly Step[]): Promise<string[]> {
  const refusals = steps.filter(
    (step) => (step.do === 'answer' && step.times === FOR_EVER) || step.do === 'habit',
  );
  const plain = steps.every((step) => /^(wait|edit|annotate|answer|habit|crash|apply)$/.test(step.do));
  if (refusals.length === 0 || !plain || !refusals.every(isRefusal)) return [];
  await world.advance(ENOUGH_MS);
  const resource = world.get('Instance', 'web-eu');
  const record = world.judges.court('end').record('instances', resource?.status?.id ?? '', homeOf(resource));
  if (resource === undefined || record === undefined || isPaused(resource)) return [];
  if (record['state'] !== 'done' || resource.metadata.deletionTimestamp !== undefined) return [];
  const refused = (...calls: string[]): boolean =>
    refusals.some((step) => step.do === 'answer' && calls.includes(step.call));
  const byValue = refusals.every((step) => step.do === 'habit');
  const out: string[] = [];
  const { event = '' } = (record['operation'] ?? {}) as { event?: string };
  const off = event.startsWith('shutdown');
  const lease = record['lease'] as { released?: boolean } | undefined;
  const { powerState, tags } = resource.spec as { powerState?: string; tags?: string[] };
  if (lease?.released !== true && powerState === 'Stopped' && !off && !refused('shutdown'))
    out.push(`Instance/web-eu is to be Stopped and shows ${event}, though nothing refuses that`);
  const kept = record['tags'] as string[];
  const missing = (tags ?? []).filter((tag) => !kept.includes(tag));
  if ((byValue || !refused('put instance')) && missing.length > 0)
    out.push(`Instance/web-eu lacks tag ${missing.join(', ')}, though nothing refuses that`);
  for (const operation of ['reinstall', 'reconfigure'] as const) {
    const asked = resource.metadata.annotations?.[`boxwright.dev/request-${operation}`];
    const handled = (resource.status?.['handledRequests'] as Record<string, string> | undefined)?.[operation];
    if (
      asked !== undefined &&
      asked !== '' &&
      asked.length <= 200 &&
      handled !== asked &&
      !off &&
      !refused(operation)
    )
      out.push(`Instance/web-eu has not answered request-${operation}, though nothing refuses that`);
  }
  return out;
}

function isRefusal(step: Step): boolean {
  return step.do === 'habit'
    ? step.habit === 'refuses PORT 666'
    : step.do === 'answer' && typeof step.with === 'number' && step.with !== 401 && step.with !== 429;
}
