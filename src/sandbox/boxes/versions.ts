import { badRequest } from '../http.ts';
import type { BoxDoc, Version, VersionNumber } from '../model.ts';
import type { Service } from '../service.ts';

export const versionText = (number: VersionNumber): string =>
  `${number.major}.${number.minor}.${number.patch}`;

const order = (a: VersionNumber, b: VersionNumber): number =>
  a.major - b.major || a.minor - b.minor || a.patch - b.patch;

/** The versions of a box (or of the box that a version belongs to), the newest first. */
export function versionsOf(service: Service, box: BoxDoc): BoxDoc[] {
  const base = box.version?.box ?? box.id;
  return service.store.boxes
    .by('base', base)
    .toSorted((a, b) => (a.version && b.version ? order(b.version.number, a.version.number) : 0));
}

/**
 * Stores `content` as a version: a record of its own that never changes. The draft remembers it in
 * `draft_from`. @throws Refusal 400 when the number is taken
 */
export function makeVersion(service: Service, content: BoxDoc, version: Version): BoxDoc {
  const taken = versionsOf(service, content).some(
    (other) => other.version !== undefined && order(other.version.number, version.number) === 0,
  );
  if (taken) throw badRequest(`version.number: ${versionText(version.number)} exists already`);
  const now = service.time.stamp();
  const { draft_from: _, ...rest } = content;
  const stored = service.store.boxes.put({
    ...rest,
    id: service.ids.uuid(),
    created: now,
    updated: now,
    version: {
      box: content.id,
      description: version.description ?? '',
      number: version.number,
      workspace: content.owner,
    },
  });
  const draft = service.store.boxes.get(content.id);
  if (draft !== undefined) service.store.boxes.put({ ...draft, draft_from: stored.id });
  return stored;
}
