import type { RecordStatus } from '../../api/fields/status.ts';
import { ANNOTATIONS } from '../../api/names.ts';
import { jittered } from '../../base/backoff.ts';
import type { Random } from '../../base/clock.ts';
import type { BoxRecord, EventRecord, ProviderRecord } from '../../service/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import { blobOf, forgetRefused, noteTaken, type Uploads } from '../content/uploads.ts';
import { keptSecrets, secretsAtRisk, type DesiredFile } from '../content/variables.ts';
import { differing, drifted, driftList, notApplied, wouldWipe } from '../record/differences.ts';
import { conditionOf, type Convergence, type Pass, type StatusFields } from '../record/kind.ts';
import { noteWrite, readFirst, takeOver } from '../record/observed.ts';
import type { Memory } from '../record/memory.ts';
import {
  heldVerdict,
  isAboutCredentials,
  notAccepted,
  refusedVerdict,
  type Attempt,
} from '../record/outcome.ts';
import { policiesOf } from '../record/policies.ts';
import type { ManagedResource } from '../record/resource.ts';
import { notSupported } from '../record/status/gate.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { uploadFingerprint, uploading, uploadOnce } from '../record/uploads.ts';
import {
  ATTACHMENTS,
  filesOf,
  isAsked,
  ownedBy,
  planUpdate,
  unshownIn,
  urlIn,
  wholeOf,
  type Draft,
  type Managed,
  type Plan,
} from './draft.ts';

/** The status of a kind whose record is a box of the service. */
export type DraftStatus = RecordStatus & {
  /** `profile`: of a policy box, or one of CloudFormation. */
  managed?: { profile?: string[] };
  draftHash?: string;
  putBegun?: boolean;
  aboutHash?: string;
  files?: { path: string; hmac: string; url: string }[];
};

/** A resource whose record is a box of the service. */
export type DraftResource = ManagedResource & { status: DraftStatus };

/** Memory of such a resource. */
export interface DraftMemory extends Memory<BoxRecord> {
  readonly uploads: Uploads;
  /** The provider that the record names, as last seen. */
  provider: ProviderRecord | undefined;
  /** The draft that was refused with the blobs that status names: these are not believed until it is taken. */
  refusedFiles: string | undefined;
  /** The draft that the last PUT of this process left on the record; `whole` is undefined where that is not known. */
  put: { id: string; whole: string | undefined } | undefined;
  /** The draft of which status was to note that its PUT begins, and how often. */
  begun: { whole: string; times: number } | undefined;
}

/** So often at most status is to note the same: the definition on the cluster may not know the field. */
const NOTED_TIMES = 2;

const EVENT_PREFIX = 'events.';
/** Lists of keys in `status.managed`. */
const KEYED = ['variables', 'profile', 'members'] as const;
/** Marks the fingerprint of what the service was asked for and kept. */
const KEPT = 'kept';

/** What a pass over a draft comes to. */
export type DraftConvergence<R extends DraftResource> = Convergence<R> & {
  /** The record is not the draft, and driftPolicy leaves it so. */
  differs?: boolean;
};

type DraftPass<R extends DraftResource> = Pass<R, BoxRecord, DraftMemory>;

/** Makes a box record the declared draft: uploads, one PUT, and what the answer shows. One effect at most. */
export async function convergeDraft<R extends DraftResource>(
  pass: DraftPass<R>,
  record: BoxRecord,
  draft: Draft,
): Promise<DraftConvergence<R>> {
  const { resource, memory, handle } = pass;
  const { status } = resource;
  const { noted, urlOf, managed, plan } = planOf(pass, record, draft);
  for (const file of filesOf(draft)) {
    if (blobOf(file, memory.uploads, noted) === undefined) return uploadOne(pass, file);
  }
  const settled = (): Convergence<R> => ({
    verdict: verdict('Settled', 'The record is as declared', settledMs(pass)),
    fields: inPlace(draft, urlOf, record, managed),
  });

  const applied = isPut(pass, record, draft);
  const whole = wholeOf(draft);
  const fresh = record.name === pass.marker;
  if (applied && plan.differences.length === 0) {
    memory.attempts.inForce('content', whole);
    memory.attempts.succeeded('content', `${whole} ${KEPT}`);
    return settled();
  }
  const { drift: policy } = policiesOf(resource, handle, 'Recreate');
  // Attached to a record that was there before: what differs is drift from the first look on.
  const isDrift = !fresh && (applied || (status.draftHash === undefined && policy !== 'Correct'));
  if (isDrift && policy !== 'Correct') {
    const drift = leftAlone(pass, plan, policy);
    const fields = { ...inPlace<R>(draft, urlOf, record, managed), ...drift.fields };
    return { verdict: drift.verdict, fields, differs: plan.differences.length > 0 };
  }
  const risk = secretsAtRisk(
    plan.body.variables ?? [],
    keptSecrets(draft.variables, record.variables ?? [], putThereBy(resource)),
  );
  if (risk.length > 0) return { verdict: wouldWipe(risk), fields: {} };
  const fingerprint = fingerprintOf(draft, plan);
  if (applied && fingerprint !== whole && saysNotApplied(resource) && !memory.attempts.wasCleared) {
    memory.attempts.closed('content', fingerprint, notApplied(plan.differences));
  }
  const held = memory.attempts.held('content', fingerprint);
  if (held !== undefined) {
    const said = heldVerdict(held, () => differing(held, plan.differences));
    const recheckAfterMs = Math.min(held.retryAfterMs, settledMs(pass));
    return {
      verdict: { ...said, recheckAfterMs },
      fields: applied ? inPlace(draft, urlOf, record, managed) : {},
    };
  }
  const ours = ownedBy(draft, urlOf);
  const both = KEYED.map((list) => [list, [...new Set([...managed[list], ...ours[list]])]] as const);
  const isMore = both.some(([list, keys]) => keys.length > managed[list].length);
  // Where it is taken back before status speaks of it, the record has to tell; secrets do not show there, and what
  // shows counts as somebody else's doing where that is left alone.
  const isHidden = policy !== 'Correct' || draft.variables.some(({ secret }) => secret === true);
  const begun = memory.begun?.whole === whole ? memory.begun : { whole, times: 0 };
  const isBegun = !applied && isHidden && status.putBegun !== true && begun.times < NOTED_TIMES;
  if (!fresh && (isMore || isBegun) && status.draftHash !== undefined) {
    // Noted before they are put there, so that a crash in between leaves nothing that nobody takes away again.
    takeOver(memory);
    if (isBegun) memory.begun = { whole, times: begun.times + 1 };
    return {
      verdict: verdict('Updating', 'The change is being put on the record'),
      fields: {
        ...(isMore ? { managed: managedKeys(Object.fromEntries(both)) } : {}),
        ...(isBegun ? { putBegun: true } : {}),
      } as StatusFields<R>,
      again: true,
    };
  }
  const unfit = notSupported(resource.kind, inPlace(draft, urlOf, record, managed));
  if (unfit !== undefined) return { verdict: unfit, fields: {} };
  const attempt: Attempt = { attempts: memory.attempts, aspect: 'content', fingerprint };
  return readFirst<R>(memory) ?? put(pass, draft, plan, { urlOf, managed, corrected: applied }, attempt);
}

/** What a PUT would bring, and where the files are that it names, as far as they were uploaded. */
export function planOf<R extends DraftResource>(
  { resource: { status }, memory }: Pick<DraftPass<R>, 'resource' | 'memory'>,
  record: BoxRecord,
  draft: Draft,
): {
  plan: Plan;
  managed: Managed;
  urlOf: (file: DesiredFile) => EventRecord;
  noted: (path: string) => { hmac: string; url: string } | undefined;
} {
  const noted = (path: string): { hmac: string; url: string } | undefined =>
    memory.refusedFiles === undefined ? status.files?.find((file) => file.path === path) : undefined;
  const urlOf = (file: DesiredFile): EventRecord => blobOf(file, memory.uploads, noted) ?? { url: '' };
  const managed = managedIn(status);
  return { plan: planUpdate(record, draft, managed, urlOf), managed, urlOf, noted };
}

async function uploadOne<R extends DraftResource>(
  pass: DraftPass<R>,
  file: DesiredFile,
): Promise<Convergence<R>> {
  const { memory } = pass;
  const { attempts } = memory;
  const attempt: Attempt = { attempts, aspect: 'content', fingerprint: uploadFingerprint(file) };
  const held = attempts.held(attempt.aspect, attempt.fingerprint);
  if (held !== undefined) return { verdict: heldVerdict(held, uploading), fields: {} };
  const said = await uploadOnce(pass, file, attempt);
  if (said !== undefined) return { verdict: said, fields: {} };
  // The record has not changed by this.
  takeOver(memory);
  return { verdict: uploading(), fields: {}, again: true, quiet: true };
}

async function put<R extends DraftResource>(
  pass: DraftPass<R>,
  draft: Draft,
  plan: Plan,
  {
    urlOf,
    managed,
    corrected,
  }: {
    urlOf: (file: DesiredFile) => EventRecord;
    managed: Managed;
    /** What was declared was in place before: the difference is somebody else's doing. */
    corrected: boolean;
  },
  attempt: Attempt,
): Promise<Convergence<R>> {
  const { memory, handle, resource } = pass;
  const { id } = plan.body;
  const before = memory.put?.id === id ? memory.put : saidOf(id, resource.status);
  memory.put = { id, whole: undefined };
  const write = await handle.client.boxes.update(plan.body.id, plan.body, {
    priority: pass.priority,
    signal: pass.signal,
  });
  noteWrite(memory, write, handle.client.stamp());
  if (write.kind !== 'ok') {
    if (write.kind !== 'unknown') memory.put = before;
    const taken = write.kind === 'refused' && write.error.class === 'Conflict';
    if (write.kind === 'refused' && !taken && !isAboutCredentials(write.error) && filesOf(draft).length > 0) {
      const whole = wholeOf(draft);
      const isNew = memory.refusedFiles !== whole;
      memory.refusedFiles = whole;
      if (forgetRefused(filesOf(draft), memory.uploads) && isNew) {
        return { verdict: uploading(), fields: {}, again: true, quiet: true };
      }
    }
    return {
      verdict: notAccepted(write, attempt, { refused: taken ? () => nameTaken(draft) : refusedVerdict }),
      fields: {},
    };
  }
  memory.refusedFiles = undefined;
  noteTaken(memory.uploads);
  const { attempts, fingerprint } = attempt;
  const answer = write.record;
  // Another name than was sent is a no: it counts as one, as often as it comes.
  const isRenamed = answer?.name === undefined || answer.name === draft.name;
  if (isRenamed) {
    attempts.accepted('content', fingerprint, { difference: namesOf(plan), correcting: corrected });
  }
  if (answer === undefined) {
    memory.observed = undefined;
    memory.put = { id, whole: wholeOf(draft) };
    return {
      verdict: verdict('Updating', 'The change was taken; it is read back'),
      fields: inPlace(draft, urlOf, plan.body, managed),
      again: true,
      corrected,
    };
  }
  memory.observed = { record: answer, startedAt: write.endedAt, takeOver: false };
  const fields = inPlace<R>(draft, urlOf, answer, managed);
  if (!isRenamed) {
    const said = attempts.refused('content', fingerprint, nameTaken(draft));
    return { verdict: said, fields: { ...fields, draftHash: undefined, aboutHash: undefined } };
  }
  const { kept, others } = unshownIn(answer, draft, managed, urlOf);
  if (others.length > 0) {
    // It is in place once a read or an answer shows it: until then another try is due, whatever driftPolicy says.
    const said = verdict('Updating', 'The change was taken and does not show yet: it is looked for again');
    const { draftHash, aboutHash, putBegun } = resource.status;
    return { verdict: said, fields: { ...fields, draftHash, aboutHash, putBegun }, again: true };
  }
  memory.put = { id, whole: wholeOf(draft) };
  memory.begun = undefined;
  attempts.inForce('content', fingerprint);
  if (kept.length === 0) {
    return { verdict: verdict('Settled', 'The record is as declared', settledMs(pass)), fields, corrected };
  }
  // The service answers that it keeps these: they are not sent again, whatever else is.
  const said = notApplied(kept);
  attempts.closed('content', `${wholeOf(draft)} ${KEPT}`, said);
  return { verdict: { ...said, recheckAfterMs: settledMs(pass) }, fields };
}

/** Whether status says of this very declaration that the service keeps its own: known beyond a restart. */
function saysNotApplied(resource: DraftResource): boolean {
  const ready = conditionOf(resource, 'Ready');
  return ready?.reason === 'NotApplied' && ready.observedGeneration === resource.metadata.generation;
}

/** Whether status says that a draft is what was put on the record last. */
export function isInPlace(status: DraftStatus, draft: Draft): boolean {
  return wholeIn(status) === wholeOf(draft);
}

/** The same as far as this process knows: status may not have been written since. */
function isPut<R extends DraftResource>(
  { resource, memory }: DraftPass<R>,
  { id }: BoxRecord,
  draft: Draft,
): boolean {
  const known = memory.put?.id === id ? memory.put : undefined;
  return known === undefined ? isInPlace(resource.status, draft) : known.whole === wholeOf(draft);
}

/** The draft that status says is on the record; undefined where a PUT has begun since. */
function wholeIn({ draftHash, aboutHash, putBegun }: DraftStatus): string | undefined {
  if (draftHash === undefined || putBegun === true) return undefined;
  return wholeOf({ hash: draftHash, about: aboutHash });
}

function saidOf(id: string, status: DraftStatus): DraftMemory['put'] {
  const whole = wholeIn(status);
  return whole === undefined ? undefined : { id, whole };
}

function isAttachment(path: string): boolean {
  return ATTACHMENTS.some((field) => field === path);
}

/**
 * Whether a declared variable that is on the record came from here: it is noted, or the record was never adopted. One that
 * is taken up again after a restore, or that comes back, is not noted yet.
 */
export function putThereBy({ metadata, status }: DraftResource): (key: string) => boolean {
  const isAdopted = metadata.annotations?.[ANNOTATIONS.adopt] !== undefined;
  return (key) => !isAdopted || (status.managed?.variables ?? []).includes(key);
}

/** What status notes as ours. */
function managedIn({ managed, files = [] }: DraftStatus): Managed {
  return {
    variables: managed?.variables ?? [],
    profile: managed?.profile ?? [],
    members: managed?.members ?? [],
    events: files
      .filter(({ path }) => path.startsWith(EVENT_PREFIX))
      .map(({ path }) => path.slice(EVENT_PREFIX.length)),
    attachments: Object.fromEntries(
      files.filter(({ path }) => isAttachment(path)).map(({ path, hmac, url }) => [path, { hmac, url }]),
    ),
  };
}

/** What the service may keep waits for itself, so that it holds back nothing that the service does take. */
function fingerprintOf(draft: Draft, plan: Plan): string {
  const onlyAsked =
    plan.differences.length > 0 && plan.differences.every(({ field }) => isAsked(field, draft));
  return onlyAsked ? `${wholeOf(draft)} ${KEPT}` : wholeOf(draft);
}

/** What drift comes to where it is not to be put right. */
function leftAlone<R extends DraftResource>(
  pass: DraftPass<R>,
  plan: Plan,
  policy: 'Report' | 'Ignore',
): { verdict: Verdict; fields: StatusFields<R> } {
  const settled = verdict('Settled', 'The record is as declared', settledMs(pass));
  if (policy === 'Ignore') return { verdict: settled, fields: {} };
  return {
    verdict: { ...settled, extra: [drifted(plan.differences)] },
    fields: { drift: driftList(plan.differences) } as StatusFields<R>,
  };
}

function namesOf({ differences }: Plan): string {
  return differences
    .map(({ field }) => field)
    .toSorted()
    .join();
}

/** What status notes as ours, sorted; lists that are empty are left out. */
function managedKeys(lists: Record<string, readonly string[]>): Record<string, string[]> | undefined {
  const kept = Object.entries(lists).filter(([, keys]) => keys.length > 0);
  if (kept.length === 0) return undefined;
  return Object.fromEntries(kept.map(([name, keys]) => [name, keys.toSorted()]));
}

/** Status fields once the draft is in place. */
function inPlace<R extends DraftResource>(
  draft: Draft,
  urlOf: (file: DesiredFile) => EventRecord,
  record: BoxRecord,
  managed: Managed,
): StatusFields<R> {
  const { variables, profile, members, attachments } = ownedBy(draft, urlOf);
  // One that the record names still, whatever is declared now, stays in mind: it is to go, or to come back.
  const kept = ATTACHMENTS.flatMap((path) => {
    const before = managed.attachments[path];
    const isThere = before !== undefined && before.url === urlIn(record[path]);
    return isThere && before.url !== attachments[path]?.url ? [{ path, ...before }] : [];
  });
  const files = [
    ...filesOf(draft)
      .filter(({ path }) => !kept.some((one) => one.path === path))
      .map((file) => ({ path: file.path, hmac: file.shown, url: urlOf(file).url })),
    ...kept,
  ].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return {
    uri: record.uri,
    draftHash: draft.hash,
    aboutHash: draft.about,
    putBegun: undefined,
    files: files.length === 0 ? undefined : files,
    managed: managedKeys({ variables, profile, members }),
    drift: undefined,
  } as StatusFields<R>;
}

function nameTaken(draft: Draft): Verdict {
  return verdict(
    'NameTaken',
    `The name "${draft.name}" is taken on the service: choose another spec.name, or delete this resource and ` +
      `adopt that record`,
  );
}

/** The next periodic look. */
function settledMs({ handle, random }: { handle: ConnectionHandle; random: Random }): number {
  return jittered(handle.poll.settledMs, random);
}
