import type { Box } from '../../api/box.ts';
import type { BoxRecord, EventRecord, Read, VersionRecord } from '../../service/index.ts';
import { Digest } from '../digest.ts';
import type { DesiredFile } from '../content/variables.ts';
import { ATTACHMENTS, filesOf, planUpdate, urlIn, type Draft } from '../draft/draft.ts';
import { variableKey } from '../content/variables.ts';
import type { Pass } from '../record/kind.ts';
import type { ExtraCondition } from '../record/status/verdict.ts';
import type { BoxMemory } from './memory.ts';

type BoxPass = Pass<Box, BoxRecord, BoxMemory>;
type Shown = NonNullable<Box['status']['versions']>;

/** So many versions status shows. */
export const VERSIONS_SHOWN = 10;

/** A version's number as people write it; undefined where a record has none. */
export function numberOf({ version }: Pick<BoxRecord, 'version'>): string | undefined {
  const { major, minor, patch } = version?.number ?? {};
  if (major === undefined) return undefined;
  const parts = [major, minor, patch].map((part) => part ?? 0);
  return parts.every((part) => Number.isSafeInteger(part) && part >= 0) ? parts.join('.') : undefined;
}

/** Whether a record is a version of a box: one of its own, which does not say that it is another box's. */
export function isVersionOf(box: string, { id, version }: Pick<BoxRecord, 'id' | 'version'>): boolean {
  return id !== box && version !== undefined && (version.box === undefined || version.box === box);
}

/** The number as it travels. */
export function wireNumber(number: string): NonNullable<VersionRecord['number']> {
  const [major = 0, minor = 0, patch = 0] = number.split('.').map(Number);
  return { major, minor, patch };
}

/** The newest versions, as status shows them. */
export function shownVersions(records: readonly BoxRecord[]): Shown {
  const numbered = records.flatMap((record) => {
    const number = numberOf(record);
    return number === undefined ? [] : [{ number, id: record.id }];
  });
  return numbered.toSorted((a, b) => newer(b.number, a.number)).slice(0, VERSIONS_SHOWN);
}

function newer(a: string, b: string): number {
  const [left, right] = [wireNumber(a), wireNumber(b)];
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch;
}

/** Reads which versions there are. */
export async function readVersions(
  { handle, priority, signal }: BoxPass,
  id: string,
): Promise<Read<readonly BoxRecord[]>> {
  const read = await handle.client.boxes.versions(id, { priority, signal });
  return read.kind === 'found'
    ? { ...read, record: read.record.filter((one) => isVersionOf(id, one)) }
    : read;
}

/** How the version that is declared stands to the content in place; `made` is what is known of it. */
export function publishedCondition(
  { number, draftHash }: { number: string; draftHash: string },
  draft: Draft,
): ExtraCondition {
  const type = 'Published';
  return Digest.differ(draftHash, draft.hash)
    ? {
        type,
        status: 'False',
        reason: 'DraftAhead',
        message: `Version ${number} was made of earlier content, and versions never change: set spec.publish.version to a new number to make one of the present content`,
      }
    : { type, reason: 'Published', message: `Version ${number} is made of this content` };
}

/** The version that is declared waits for content that driftPolicy keeps from being put in place. */
export function unpublished(number: string): ExtraCondition {
  const message =
    `Version ${number} is not made while the record differs from the declaration: set driftPolicy to Correct, or ` +
    `declare what the record has`;
  return { type: 'Published', status: 'False', reason: 'Drifted', message };
}

/**
 * Whether a version is of the content that is declared: scripts, variables and files, not who sees it or how it looks.
 * Files are compared by what is in them, since the same content may have been uploaded twice. Undefined: cannot be told.
 */
export async function isOfContent(
  version: BoxRecord,
  draft: Draft,
  pass: BoxPass,
  urlOf: (file: DesiredFile) => EventRecord,
): Promise<Exclude<Read<boolean>, { kind: 'missing' }>> {
  const { handle, priority, signal } = pass;
  const urls = new Map<string, string>();
  const startedAt = handle.client.stamp();
  const content = {
    ...draft,
    name: version.name ?? draft.name,
    asked: Object.fromEntries(Object.entries(draft.asked).filter(([field]) => !ABOUT.has(field))),
    attachments: draft.attachments.filter(({ field }) => field === 'dockerfile'),
    members: [],
  };
  for (const file of filesOf(content)) {
    const theirs = urlInVersion(version, file.path);
    if (theirs === undefined || theirs === urlOf(file).url) continue;
    const have = await handle.client.blobs.download(theirs, { priority, signal });
    // No file of the service: it is other content, which no later read changes.
    if (have.kind === 'unknown' && have.error.code !== 'BadId') return have;
    if (have.kind === 'found' && file.hashOf(have.record) === file.hmac) urls.set(file.path, theirs);
  }
  const nothing = { variables: [], events: [], profile: [], members: [], attachments: {} };
  const at = (file: DesiredFile): EventRecord => {
    const url = urls.get(file.path);
    return url === undefined ? urlOf(file) : { url };
  };
  const { differences } = planUpdate(version, content, nothing, at);
  return { kind: 'found', record: differences.length === 0, startedAt };
}

/** What says nothing about what is deployed. */
const ABOUT: ReadonlySet<string> = new Set(['visibility', 'automatic_updates']);

/** Where a version has the file of a path, as `DesiredFile` names it. */
function urlInVersion(
  { events = {}, variables = [], ...record }: BoxRecord,
  path: string,
): string | undefined {
  if (ATTACHMENTS.some((field) => field === path)) return urlIn(record[path]);
  const [, event] = /^events\.(.+)$/.exec(path) ?? [];
  if (event !== undefined) return events[event]?.url;
  const variable = variables.find(({ name, scope }) => path === `variables.${variableKey(name, scope)}`);
  return urlIn(variable?.value);
}
