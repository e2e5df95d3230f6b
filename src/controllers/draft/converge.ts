import type { RecordStatus } from '../../api/fields/status.ts';
import { jittered } from '../../base/backoff.ts';
import type { Random } from '../../base/clock.ts';
import type { BoxRecord, EventRecord } from '../../service/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import { blobOf, forgetRefused, noteTaken, type Uploads } from '../content/uploads.ts';
import { secretsAtRisk, type DesiredFile } from '../content/variables.ts';
import {
  differing,
  drifted,
  driftList,
  notApplied,
  wouldWipe,
  type Difference,
} from '../record/differences.ts';
import { conditionOf, type Convergence, type Pass, type StatusFields } from '../record/kind.ts';
import { noteWrite, readFirst, takeOver } from '../record/looks.ts';
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
import { filesOf, keptFields, ownedBy, planUpdate, type Draft, type Plan } from './draft.ts';

/** The status of a kind whose record is a box of the service. */
export type DraftStatus = RecordStatus & {
  /** `profile`: of a policy box. */
  managed?: { profile?: string[] };
  draftHash?: string;
  files?: { path: string; hmac: string; url: string }[];
};

/** A resource whose record is a box of the service. */
export type DraftResource = ManagedResource & { status: DraftStatus };

/** Memory of such a resource. */
export interface DraftMemory extends Memory<BoxRecord> {
  readonly uploads: Uploads;
  /** The draft that was refused with the blobs that status names: these are not believed until it is taken. */
  refusedFiles: string | undefined;
}

const EVENT_PREFIX = 'events.';
/** Marks the fingerprint of what the service was asked for and kept. */
const KEPT = 'kept';

type DraftPass<R extends DraftResource> = Pass<R, BoxRecord, DraftMemory>;

/** Makes a box record the declared draft: uploads, one PUT, and what the answer shows. One effect at most. */
export async function convergeDraft<R extends DraftResource>(
  pass: DraftPass<R>,
  record: BoxRecord,
  draft: Draft,
): Promise<Convergence<R>> {
  const { resource, memory, handle } = pass;
  const { status } = resource;
  const noted = (path: string): { hmac: string; url: string } | undefined =>
    memory.refusedFiles === undefined ? status.files?.find((file) => file.path === path) : undefined;

  for (const file of filesOf(draft)) {
    if (blobOf(file, memory.uploads, noted) === undefined) return uploadOne(pass, file);
  }
  const urlOf = (file: DesiredFile): EventRecord => blobOf(file, memory.uploads, noted) ?? { url: '' };
  const managed = {
    variables: status.managed?.variables ?? [],
    profile: status.managed?.profile ?? [],
    events: (status.files ?? [])
      .filter(({ path }) => path.startsWith(EVENT_PREFIX))
      .map(({ path }) => path.slice(EVENT_PREFIX.length)),
  };
  const plan = planUpdate(record, draft, managed, urlOf);
  const settled = (): Convergence<R> => ({
    verdict: verdict('Settled', 'The record is as declared', settledMs(pass)),
    fields: inPlace(draft, urlOf, record),
  });

  const applied = status.draftHash === draft.hash;
  const fresh = record.name === pass.marker;
  if (applied && plan.differences.length === 0) {
    memory.attempts.inForce('content', draft.hash);
    memory.attempts.succeeded('content', `${draft.hash} ${KEPT}`);
    return settled();
  }
  const { drift: policy } = policiesOf(resource, handle, 'Recreate');
  // Attached to a record that was there before: what differs is drift from the first look on.
  const isDrift = !fresh && (applied || (status.draftHash === undefined && policy !== 'Correct'));
  if (isDrift && policy !== 'Correct') {
    const drift = leftAlone(pass, plan, policy);
    return { verdict: drift.verdict, fields: { ...inPlace(draft, urlOf, record), ...drift.fields } };
  }
  const risk = secretsAtRisk(
    plan.body.variables ?? [],
    new Set(draft.variables.filter(({ secret }) => secret === true).map(({ key }) => key)),
  );
  if (risk.length > 0) return { verdict: wouldWipe(risk), fields: {} };
  const fingerprint = fingerprintOf(draft, plan);
  if (applied && fingerprint !== draft.hash && saysNotApplied(resource) && !memory.attempts.wasCleared) {
    memory.attempts.closed('content', fingerprint, notApplied(plan.differences));
  }
  const held = memory.attempts.held('content', fingerprint);
  if (held !== undefined) {
    const said = heldVerdict(held, () => differing(held, plan.differences));
    const recheckAfterMs = Math.min(held.retryAfterMs, settledMs(pass));
    return { verdict: { ...said, recheckAfterMs }, fields: applied ? inPlace(draft, urlOf, record) : {} };
  }
  const ours = ownedBy(draft);
  const newly = {
    variables: ours.variables.filter((key) => !managed.variables.includes(key)),
    profile: ours.profile.filter((leaf) => !managed.profile.includes(leaf)),
  };
  if (!fresh && newly.variables.length + newly.profile.length > 0 && status.draftHash !== undefined) {
    // Noted before they are put there, so that a crash in between leaves nothing that nobody takes away again.
    takeOver(memory);
    return {
      verdict: verdict('Updating', 'The change is being put on the record'),
      fields: {
        managed: managedKeys({
          variables: [...managed.variables, ...newly.variables],
          profile: [...managed.profile, ...newly.profile],
        }),
      } as StatusFields<R>,
      again: true,
    };
  }
  const unfit = notSupported(resource.kind, inPlace(draft, urlOf, record));
  if (unfit !== undefined) return { verdict: unfit, fields: {} };
  const attempt: Attempt = { attempts: memory.attempts, aspect: 'content', fingerprint };
  return readFirst<R>(memory) ?? put(pass, draft, plan, urlOf, attempt);
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
  urlOf: (file: DesiredFile) => EventRecord,
  attempt: Attempt,
): Promise<Convergence<R>> {
  const { memory, handle, resource } = pass;
  const write = await handle.client.boxes.update(plan.body.id, plan.body, {
    priority: pass.priority,
    signal: pass.signal,
  });
  noteWrite(memory, write, handle.client.stamp());
  if (write.kind !== 'ok') {
    const taken = write.kind === 'refused' && write.error.class === 'Conflict';
    if (write.kind === 'refused' && !taken && !isAboutCredentials(write.error) && filesOf(draft).length > 0) {
      const isNew = memory.refusedFiles !== draft.hash;
      memory.refusedFiles = draft.hash;
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
  // What was declared was in place before: the difference is somebody else's doing.
  const corrected = resource.status.draftHash === draft.hash;
  const { attempts, fingerprint } = attempt;
  attempts.accepted('content', fingerprint, { difference: namesOf(plan), correcting: corrected });
  const answer = write.record;
  if (answer === undefined) {
    memory.observed = undefined;
    return {
      verdict: verdict('Updating', 'The change was taken; it is read back'),
      fields: inPlace(draft, urlOf, plan.body),
      again: true,
      corrected,
    };
  }
  memory.observed = { record: answer, startedAt: write.endedAt, takeOver: false };
  const fields = inPlace<R>(draft, urlOf, answer);
  if (answer.name !== undefined && answer.name !== draft.name) {
    const said = attempts.refused('content', fingerprint, nameTaken(draft));
    return { verdict: said, fields: { ...fields, draftHash: undefined } };
  }
  const kept = keptFields(answer, draft);
  if (notShown(answer, draft, urlOf, kept)) {
    // It is in place once a read or an answer shows it: until then another try is due, whatever driftPolicy says.
    const said = verdict('Updating', 'The change was taken and does not show yet: it is looked for again');
    return { verdict: said, fields: { ...fields, draftHash: resource.status.draftHash }, again: true };
  }
  attempts.inForce('content', fingerprint);
  if (kept.length === 0) {
    return { verdict: verdict('Settled', 'The record is as declared', settledMs(pass)), fields, corrected };
  }
  // The service answers that it keeps these: they are not sent again, whatever else is.
  const said = notApplied(kept);
  attempts.closed('content', `${draft.hash} ${KEPT}`, said);
  return { verdict: { ...said, recheckAfterMs: settledMs(pass) }, fields };
}

/** Whether an answer lacks something of the draft beside the fields that the service keeps. */
function notShown(
  answer: BoxRecord,
  draft: Draft,
  urlOf: (file: DesiredFile) => EventRecord,
  kept: readonly Difference[],
): boolean {
  const fields = new Set(kept.map(({ field }) => field));
  return planUpdate(answer, draft, ownedBy(draft), urlOf).differences.some(({ field }) => !fields.has(field));
}

/** Whether status says of this very declaration that the service keeps its own: known beyond a restart. */
function saysNotApplied(resource: DraftResource): boolean {
  const ready = conditionOf(resource, 'Ready');
  return ready?.reason === 'NotApplied' && ready.observedGeneration === resource.metadata.generation;
}

/** What the service may keep waits for itself, so that it holds back nothing that the service does take. */
function fingerprintOf(draft: Draft, plan: Plan): string {
  const onlyAsked =
    plan.differences.length > 0 &&
    plan.differences.every(({ field }) => Object.hasOwn(draft.asked, field.split('.', 1)[0] ?? ''));
  return onlyAsked ? `${draft.hash} ${KEPT}` : draft.hash;
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
function managedKeys(lists: Record<string, string[]>): Record<string, string[]> | undefined {
  const kept = Object.entries(lists).filter(([, keys]) => keys.length > 0);
  if (kept.length === 0) return undefined;
  return Object.fromEntries(kept.map(([name, keys]) => [name, keys.toSorted()]));
}

/** Status fields once the draft is in place. */
function inPlace<R extends DraftResource>(
  draft: Draft,
  urlOf: (file: DesiredFile) => EventRecord,
  record: BoxRecord,
): StatusFields<R> {
  const files = filesOf(draft)
    .map((file) => ({ path: file.path, hmac: file.hmac, url: urlOf(file).url }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const { variables, profile } = ownedBy(draft);
  return {
    uri: record.uri,
    draftHash: draft.hash,
    files: files.length === 0 ? undefined : files,
    managed: managedKeys({ variables, profile }),
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
