import type { DesiredInstance } from '../desired.ts';
import type { InstanceFields, InstancePass } from '../pass.ts';
import { begunMark } from './pending.ts';
import type { PutPlan } from './plan.ts';

/** The keys on the record that are ours once it is as declared. */
export function managedOf(desired: DesiredInstance): InstanceFields['managed'] {
  const tags = desired.tags.toSorted();
  const variables = desired.variables.map(({ key }) => key).toSorted();
  if (tags.length === 0 && variables.length === 0) return undefined;
  return {
    ...(tags.length === 0 ? {} : { tags }),
    ...(variables.length === 0 ? {} : { variables }),
  };
}

/** The same before a PUT: what was ours and what will be, so that a crash in between loses track of neither. */
export function managedUnion(
  pass: InstancePass,
  plan: PutPlan,
  desired: DesiredInstance,
  of: 'content' | 'tags',
): Pick<InstanceFields, 'managed' | 'pendingHash'> {
  const { managed } = pass.resource.status;
  const tags = union(managed?.tags, plan.newTags);
  if (of === 'tags') return { managed: { ...managed, tags } };
  const declared = desired.variables.map(({ key }) => key);
  const variables = union(managed?.variables, [...plan.newVariables, ...declared]);
  return { managed: { tags, variables }, pendingHash: begunMark(desired.hash) };
}

function union(a: readonly string[] | undefined, b: readonly string[]): string[] {
  return [...new Set([...(a ?? []), ...b])].toSorted();
}
