import type { Box } from '../../api/box.ts';
import type { Instance } from '../../api/instance.ts';
import type { FindNested } from '../box/index.ts';
import { Digest } from '../digest.ts';

/** So many boxes below a box are followed: what status notes of them stays small. */
export const NESTED_LIMIT = 50;

/** The content that a nested box has in place. */
export interface NestedDraft {
  name: string;
  draftHash: string;
}

/** The boxes below a box that are in place, nearest first, at most {@link NESTED_LIMIT}. */
export function nestedDrafts(box: Box, find: FindNested): NestedDraft[] {
  const seen = new Set([box.metadata.name]);
  const level: Pick<Box, 'spec'>[] = [box];
  const drafts: NestedDraft[] = [];
  for (const { spec } of level) {
    for (const variable of spec.variables) {
      const nested = variable.type === 'Box' ? find(variable) : undefined;
      if (nested === undefined || nested.problems !== undefined || seen.has(nested.metadata.name)) continue;
      if (seen.size > NESTED_LIMIT) return drafts;
      const { name } = nested.metadata;
      const { draftHash } = (nested as Box).status;
      seen.add(name);
      level.push(nested);
      if (draftHash !== undefined) drafts.push({ name, draftHash });
    }
  }
  return drafts;
}

type InstalledBox = NonNullable<Instance['status']['box']>;

/** Names of the nested boxes whose content is another one than what was installed, as far as that can be told. */
export function changedBelow(installed: InstalledBox | undefined, nested: readonly NestedDraft[]): string[] {
  const before = new Map(installed?.nested?.map(({ name, draftHash }) => [name, draftHash]));
  return nested
    .filter(({ name, draftHash }) => Digest.differ(before.get(name) ?? draftHash, draftHash))
    .map(({ name }) => name)
    .toSorted();
}

/** What a deploy or reinstall of the present content notes. */
export function installedBox(
  box: InstalledBox,
  desired: { boxDraft: string | undefined; nested: readonly NestedDraft[] },
): InstalledBox {
  if (desired.boxDraft === undefined) return box;
  const { nested: _before, ...rest } = box;
  const { boxDraft: draftHash, nested } = desired;
  return nested.length === 0 ? { ...rest, draftHash } : { ...rest, draftHash, nested: sorted(nested) };
}

/**
 * What is noted of the nested boxes where nothing was so far, or under a key that was lost: comparing begins with
 * what is there now.
 */
export function comparable(box: InstalledBox, nested: readonly NestedDraft[]): InstalledBox {
  if (box.draftHash === undefined || nested.length === 0) return box;
  const before = new Map(box.nested?.map(({ name, draftHash }) => [name, draftHash]));
  const kept = nested.map(({ name, draftHash }) => {
    const noted = before.get(name);
    return noted !== undefined && Digest.differ(noted, draftHash)
      ? { name, draftHash: noted }
      : { name, draftHash };
  });
  return { ...box, nested: sorted(kept) };
}

function sorted(nested: readonly NestedDraft[]): NestedDraft[] {
  return nested.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
