import type { RecordStatus } from '../../api/fields/status.ts';
import type { BoxRecord, EventRecord, ServiceError } from '../../service/index.ts';
import { upload, blobOf, type Uploads } from '../content/uploads.ts';
import { comesBack } from '../content/normalised.ts';
import { isMasked, secretsAtRisk, type DesiredFile } from '../content/variables.ts';
import { failureVerdict, isAboutCredentials } from '../record/decide.ts';
import type { Convergence, Pass, StatusFields } from '../record/kind.ts';
import { backoffMs, noteWrite, wasGlance } from '../record/looks.ts';
import type { Memory } from '../record/memory.ts';
import { policiesOf } from '../record/policies.ts';
import type { ManagedResource } from '../record/resource.ts';
import { conditionOf } from '../record/kind.ts';
import { notSupported } from '../record/status/gate.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { filesOf, keptFields, planUpdate, profileLeaves, type Draft, type Plan } from './draft.ts';

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
}

/** The same difference so many times in a row is somebody else's doing. */
const SAME_DIFFERENCE_LIMIT = 3;
const EVENT_PREFIX = 'events.';

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
    status.files?.find((file) => file.path === path);

  for (const file of filesOf(draft)) {
    if (blobOf(file, memory.uploads, noted) === undefined) return uploadOne(pass, file, draft);
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
    memory.convergence = undefined;
    return settled();
  }
  if (applied && !fresh) {
    const drift = onDrift(pass, plan, draft);
    if (drift !== undefined)
      return { verdict: drift.verdict, fields: { ...inPlace(draft, urlOf, record), ...drift.fields } };
  } else if (
    !fresh &&
    status.draftHash === undefined &&
    policiesOf(resource, handle, 'Recreate').drift !== 'Correct'
  ) {
    // Attached to a record that was there before: what differs is drift from the first look on.
    const drift = onDrift(pass, plan, draft);
    if (drift !== undefined)
      return { verdict: drift.verdict, fields: { ...inPlace(draft, urlOf, record), ...drift.fields } };
  }
  const risk = secretsAtRisk(
    plan.body.variables ?? [],
    new Set(draft.variables.filter(({ secret }) => secret === true).map(({ key }) => key)),
  );
  if (risk.length > 0) {
    return {
      verdict: verdict(
        'NotApplied',
        `Not sent, since it would wipe Password variables whose values only the service knows: ${risk.join(', ')}. ` +
          `Declare them here from a Secret, or remove them on the service`,
      ),
      fields: {},
    };
  }
  const newly = {
    variables: draft.variables.map(({ key }) => key).filter((key) => !managed.variables.includes(key)),
    profile: profileLeaves(draft).filter((leaf) => !managed.profile.includes(leaf)),
  };
  if (!fresh && newly.variables.length + newly.profile.length > 0 && status.draftHash !== undefined) {
    // Noted before they are put there, so that a crash in between leaves nothing that nobody takes away again.
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
  if (wasGlance(memory)) {
    return {
      verdict: verdict('Updating', 'The record is read before it is acted upon'),
      fields: {},
      afresh: true,
    };
  }
  const held = memory.refusals.holds(draft.hash, handle.client.stamp());
  if (held !== undefined)
    return { verdict: { ...held.verdict, recheckAfterMs: held.retryAfterMs }, fields: {} };
  return put(pass, draft, plan, urlOf);
}

async function uploadOne<R extends DraftResource>(
  pass: DraftPass<R>,
  file: DesiredFile,
  draft: Draft,
): Promise<Convergence<R>> {
  const { memory, handle } = pass;
  const what = `${draft.hash} ${file.path}`;
  const held = memory.refusals.holds(what, handle.client.stamp());
  if (held !== undefined)
    return { verdict: { ...held.verdict, recheckAfterMs: held.retryAfterMs }, fields: {} };
  const write = await upload(pass.handle, file, pass.memory.uploads, pass.signal);
  if (write.kind === 'ok' && write.record !== undefined) {
    pass.memory.failures = 0;
    // The record has not changed by this: the next pass takes over what this one has read.
    if (pass.memory.observed !== undefined) pass.memory.observed.fromWrite = true;
    return { verdict: verdict('Updating', 'Files are being uploaded'), fields: {}, again: true, quiet: true };
  }
  if (write.kind === 'refused' && !isAboutAccess(write.error)) {
    const said = verdict(
      'Refused',
      `${file.path}: ${write.error.message}. Change the file; it is tried again on a change`,
    );
    const wait = memory.refusals.refuse(what, said, handle.client.stamp());
    return { verdict: { ...said, recheckAfterMs: wait }, fields: {} };
  }
  const delay = backoffMs(pass.memory.failures++, pass.random);
  const said =
    write.kind === 'ok'
      ? verdict('ServiceUnavailable', `${file.path}: the upload was answered without a blob`, delay)
      : failureVerdict(write.error, delay);
  return { verdict: said, fields: {} };
}

async function put<R extends DraftResource>(
  pass: DraftPass<R>,
  draft: Draft,
  plan: Plan,
  urlOf: (file: DesiredFile) => EventRecord,
): Promise<Convergence<R>> {
  const { memory, handle, resource } = pass;
  const write = await handle.client.boxes.update(plan.body.id, plan.body, {
    priority: pass.priority,
    signal: pass.signal,
    mask: draft.variables.flatMap(({ secret, wire }) => (secret === true ? [String(wire.value)] : [])),
  });
  noteWrite(memory, write, handle.client.stamp());
  switch (write.kind) {
    case 'ok': {
      memory.failures = 0;
      memory.refusals.clear();
      // What was declared was in place before: the difference is somebody else's doing.
      const corrected = resource.status.draftHash === draft.hash;
      countSame(memory, plan, corrected);
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
      memory.observed = { record: answer, startedAt: write.endedAt, fromWrite: false };
      const fields = inPlace<R>(draft, urlOf, answer);
      if (answer.name !== undefined && answer.name !== draft.name) {
        return { verdict: nameTaken(draft), fields: { ...fields, draftHash: undefined } };
      }
      const kept = keptFields(answer, draft);
      if (kept.length > 0) return { verdict: notApplied(kept), fields };
      return { verdict: verdict('Settled', 'The record is as declared', settledMs(pass)), fields, corrected };
    }
    case 'refused': {
      const said =
        write.error.class === 'Conflict'
          ? nameTaken(draft)
          : isAboutAccess(write.error)
            ? failureVerdict(write.error, backoffMs(memory.failures++, pass.random))
            : verdict(
                'Refused',
                `${write.error.message}. Change what it speaks of; it is tried again on a change`,
              );
      if (said.recheckAfterMs !== undefined) return { verdict: said, fields: {} };
      const wait = memory.refusals.refuse(draft.hash, said, handle.client.stamp());
      return { verdict: { ...said, recheckAfterMs: wait }, fields: {} };
    }
    case 'notSent':
    case 'unknown':
      return {
        verdict: failureVerdict(write.error, backoffMs(memory.failures++, pass.random)),
        fields: {},
      };
    default:
      return write satisfies never;
  }
}

/** Whether a refusal speaks of who asks or of what is there, not of what was sent. */
function isAboutAccess(error: ServiceError): boolean {
  return isAboutCredentials(error) || error.code === 'Forbidden' || error.code === 'NotFound';
}

/** What drift comes to, or undefined when it is to be put right now. */
function onDrift<R extends DraftResource>(
  pass: DraftPass<R>,
  plan: Plan,
  draft: Draft,
): { verdict: Verdict; fields: StatusFields<R> } | undefined {
  const { resource, memory, handle } = pass;
  const wasKept = conditionOf(resource, 'Ready')?.reason === 'NotApplied';
  const kept = plan.differences.filter(({ field }) =>
    Object.hasOwn(draft.asked, field.split('.', 1)[0] ?? ''),
  );
  if (wasKept && kept.length === plan.differences.length) {
    return { verdict: notApplied(kept.map(({ field }) => field)), fields: {} };
  }
  const policy = policiesOf(resource, handle, 'Recreate').drift;
  const settled = verdict('Settled', 'The record is as declared', settledMs(pass));
  if (policy === 'Ignore') return { verdict: settled, fields: {} };
  if (policy === 'Report') {
    const fields = { drift: driftList(plan) } as StatusFields<R>;
    const names = plan.differences.map(({ field }) => field).toSorted();
    const message = `The record differs in ${names.slice(0, 10).join(', ')}: see status.drift`;
    return {
      verdict: { ...settled, extra: [{ type: 'Drifted', reason: 'Drifted', message }] },
      fields,
    };
  }
  if (
    memory.convergence?.difference === differenceOf(plan) &&
    memory.convergence.count >= SAME_DIFFERENCE_LIMIT
  ) {
    return { verdict: verdict('NotConverging', comesBack(plan.differences)), fields: {} };
  }
  return undefined;
}

function countSame(memory: DraftMemory, plan: Plan, correcting: boolean): void {
  const difference = differenceOf(plan);
  const count =
    correcting && memory.convergence?.difference === difference ? memory.convergence.count + 1 : 1;
  memory.convergence = correcting ? { difference, count } : undefined;
}

function differenceOf(plan: Plan): string {
  return plan.differences
    .map(({ field }) => field)
    .toSorted()
    .join();
}

/** The drift list of status, secrets masked. */
export function driftList(plan: Pick<Plan, 'differences'>): { field: string; want: string; have: string }[] {
  return plan.differences
    .map(({ field, want, have }) => ({
      field,
      want,
      have: isMasked(have) ? '****' : have,
    }))
    .toSorted((a, b) => (a.field < b.field ? -1 : 1));
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
  return {
    uri: record.uri,
    draftHash: draft.hash,
    files: files.length === 0 ? undefined : files,
    managed: managedKeys({
      variables: draft.variables.map(({ key }) => key),
      profile: profileLeaves(draft),
    }),
    drift: undefined,
  } as StatusFields<R>;
}

function notApplied(fields: readonly string[]): Verdict {
  return verdict(
    'NotApplied',
    `The service kept the old value of ${fields.toSorted().join(', ')}: put the old value back, or make a new ` +
      `resource with the new one`,
  );
}

function nameTaken(draft: Draft): Verdict {
  return verdict(
    'NameTaken',
    `The name "${draft.name}" is taken on the service: choose another spec.name, or delete this resource and ` +
      `adopt that record`,
  );
}

/** The next periodic look, with a tenth of jitter. */
export function settledMs(pass: { handle: { poll: { settledMs: number } }; random: () => number }): number {
  return pass.handle.poll.settledMs * (0.9 + 0.2 * pass.random());
}
