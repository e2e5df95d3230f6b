import type { Box } from '../../api/box.ts';
import { canonicalJson } from '../../base/hash.ts';
import { rfc3339 } from '../../base/rfc3339.ts';
import type { BoxRecord } from '../../service/index.ts';
import { keptSecrets, secretsAtRisk } from '../content/variables.ts';
import { planOf, putThereBy } from '../draft/converge.ts';
import type { Draft } from '../draft/draft.ts';
import { notApplied, wouldWipe } from '../record/differences.ts';
import { concludesFrom } from '../record/identity/intent.ts';
import type { Convergence, Pass, StatusFields } from '../record/kind.ts';
import { noteWrite, readFirst, takeOver } from '../record/observed.ts';
import { failed, heldVerdict, notAccepted, refusedVerdict, type Attempt } from '../record/outcome.ts';
import { verdict, type ExtraCondition, type Verdict } from '../record/status/verdict.ts';
import type { BoxMemory } from './memory.ts';
import {
  isOfContent,
  isVersionOf,
  numberOf,
  publishedCondition,
  readVersions,
  shownVersions,
  VERSIONS_SHOWN,
  wireNumber,
} from './versions.ts';

type BoxPass = Pass<Box, BoxRecord, BoxMemory>;
/** What a list shows of a version that was just made is looked for so soon, milliseconds. */
const LOOK_MS = 1_000;

type Publishing = NonNullable<Box['status']['publishing']>;

/**
 * Makes the version that is declared, once the content is in place; one effect at most. Undefined: there is nothing to
 * say but that. A version is noted in status before it is sent. Where nobody knows how sending it ended, it is looked
 * for until no read can trail the write any longer, and only then sent again.
 */
export async function publish(
  pass: BoxPass,
  record: BoxRecord,
  draft: Draft,
): Promise<Convergence<Box> | undefined> {
  const { resource, memory, handle } = pass;
  const { spec, status } = resource;
  const { version: number, description = '' } = spec.publish ?? {};
  if (number === undefined || status.published?.number === number) return undefined;
  const attempt: Attempt = {
    attempts: memory.attempts,
    aspect: 'version',
    fingerprint: canonicalJson([number, draft.hash, description]),
  };
  const held = memory.attempts.held(attempt.aspect, attempt.fingerprint);
  if (held !== undefined) {
    const unseen = [{ field: 'publish.version', want: number, have: 'absent' }];
    return pending(heldVerdict(held, () => (held.why === 'noEffect' ? notApplied(unseen) : making(number))));
  }

  const begun = handle.client.stamp();
  const { publishing: noted } = status;
  const sent = noted === undefined ? undefined : sentFor(memory, noted, begun);
  const versions = await readVersions(pass, record.id);
  if (versions.kind === 'unknown') return pending(failed(versions.error, attempt));
  if (versions.kind === 'missing') {
    const said = verdict('Unknown', 'The service shows no versions of the box: it is asked again');
    return pending(memory.attempts.failed(attempt.aspect, attempt.fingerprint, said));
  }
  const seen = { versions: listed(versions.record) };
  const there = versions.record.find((one) => numberOf(one) === number);
  if (there !== undefined)
    return judge(pass, draft, there, {
      of: record.id,
      number,
      attempt,
      seen,
      isUnsent: sent?.outcome === 'unsent',
    });

  if (noted !== undefined && sent?.outcome === 'unknown') {
    const from = concludesFrom(sent.seenAt, handle.poll.lagWindowMs);
    if (versions.startedAt < from) {
      const message = `Whether version ${noted.number} was made is not known yet: it is looked for before another is`;
      const recheckAfterMs = Math.min(handle.poll.processingMs, from - begun);
      return pending(verdict('Updating', message, recheckAfterMs), seen);
    }
    // No read trails any longer: what was noted was not made.
    memory.publishing = undefined;
  }
  const isNoted =
    noted?.number === number && noted.draftHash === draft.hash && memory.publishing !== undefined;
  return isNoted ? send(pass, record, draft, { attempt, seen }) : note(pass, draft, { number, seen });
}

/** How sending what status notes ended, as far as this process knows: of what another has noted, nothing. */
function sentFor(memory: BoxMemory, noted: Publishing, now: number): NonNullable<BoxMemory['publishing']> {
  const key = canonicalJson(noted);
  if (memory.publishing?.key !== key) memory.publishing = { key, outcome: 'unknown', seenAt: now };
  return memory.publishing;
}

function note(
  { memory, handle, now }: BoxPass,
  draft: Draft,
  { number, seen }: { number: string; seen: StatusFields<Box> },
): Convergence<Box> {
  const publishing: Publishing = { number, draftHash: draft.hash, at: rfc3339(now) };
  memory.publishing = { key: canonicalJson(publishing), outcome: 'unsent', seenAt: handle.client.stamp() };
  // The record has not changed by this.
  takeOver(memory);
  return { ...pending(making(number), { ...seen, publishing }), again: true };
}

async function send(
  pass: BoxPass,
  record: BoxRecord,
  draft: Draft,
  { attempt, seen }: { attempt: Attempt; seen: StatusFields<Box> },
): Promise<Convergence<Box>> {
  const { resource, memory, handle, priority, signal } = pass;
  const { version: number, description } = resource.spec.publish as NonNullable<Box['spec']['publish']>;
  const planned = planOf(pass, record, draft);
  const risk = secretsAtRisk(
    planned.plan.body.variables ?? [],
    keptSecrets(draft.variables, record.variables ?? [], putThereBy(resource)),
  );
  if (risk.length > 0) return pending(wouldWipe(risk), seen);
  const first = readFirst<Box>(memory);
  if (first !== undefined) return first;
  const version = { box: record.id, description, number: wireNumber(number) };
  const write = await handle.client.boxes.publish(
    record.id,
    { ...planned.plan.body, version },
    { priority, signal },
  );
  // The answer is another record than the one that is looked at.
  const { kind } = write;
  noteWrite(memory, kind === 'ok' ? { ...write, record: undefined } : write, handle.client.stamp());
  const known = memory.publishing;
  if (known !== undefined && kind !== 'notSent') {
    memory.publishing = { ...known, outcome: 'unknown', seenAt: handle.client.stamp() };
  }
  if (kind !== 'ok') {
    const said = notAccepted(write, attempt, { refused: refusedVerdict });
    if (kind !== 'refused') return pending(said, seen);
    memory.publishing = undefined;
    return pending(said, { ...seen, publishing: undefined });
  }
  const { record: made } = write;
  if (made === undefined || !isVersionOf(record.id, made) || numberOf(made) !== number) {
    // It was taken, and which record it is says the list only, if it is one.
    memory.attempts.accepted(attempt.aspect, attempt.fingerprint);
    return pending({ ...making(number), recheckAfterMs: LOOK_MS }, seen);
  }
  return isMade(pass, draft, { number, id: made.id, draftHash: draft.hash }, [
    ...shownVersions([made]),
    ...(seen.versions ?? []),
  ]);
}

/** What a version is judged by. */
interface Judged {
  /** The id of the box. */
  of: string;
  number: string;
  attempt: Attempt;
  seen: StatusFields<Box>;
  /** What is noted of it was never sent. */
  isUnsent: boolean;
}

/**
 * A version of the number is there: of this content, of what was noted before, or somebody else's. What was noted and
 * never sent made none.
 */
async function judge(
  pass: BoxPass,
  draft: Draft,
  { id }: Pick<BoxRecord, 'id'>,
  { of, number, attempt, seen, isUnsent }: Judged,
): Promise<Convergence<Box>> {
  const { priority, signal } = pass;
  const { publishing: noted } = pass.resource.status;
  const { attempts, aspect, fingerprint } = attempt;
  // Lists say little of each.
  const read = await pass.handle.client.boxes.read(id, { priority, signal });
  if (read.kind === 'unknown') return pending(failed(read.error, attempt), seen);
  if (read.kind === 'missing' || !isVersionOf(of, read.record) || numberOf(read.record) !== number) {
    const message = `The service lists version ${number} of the box and shows no such record: it is asked again`;
    return pending(attempts.failed(aspect, fingerprint, verdict('Unknown', message)), seen);
  }
  const there = read.record;
  const { urlOf } = planOf(pass, there, draft);
  const same = await isOfContent(there, draft, pass, urlOf);
  if (same.kind === 'unknown') return pending(failed(same.error, attempt), seen);
  const isNoted = noted?.number === number;
  if (same.record || (isNoted && !isUnsent)) {
    const draftHash = same.record ? draft.hash : (noted?.draftHash ?? '');
    return isMade(pass, draft, { number, id: there.id, draftHash }, seen.versions ?? []);
  }
  const said = verdict(
    'VersionTaken',
    `spec.publish.version: version ${number} of the box exists with other content, and versions never change: choose ` +
      `another number`,
  );
  const refused = attempts.refused(aspect, fingerprint, said);
  if (!isNoted) return pending(refused, seen);
  // Else whoever comes after this process would take it for sent.
  pass.memory.publishing = undefined;
  return pending(refused, { ...seen, publishing: undefined });
}

function isMade(
  pass: BoxPass,
  draft: Draft,
  published: { number: string; id: string; draftHash: string },
  versions: NonNullable<Box['status']['versions']>,
): Convergence<Box> {
  pass.memory.publishing = undefined;
  pass.memory.attempts.clearAspect('version');
  const once = versions.filter((one, at) => versions.findIndex(({ id }) => id === one.id) === at);
  return {
    verdict: {
      ...verdict('Settled', 'The record is as declared'),
      extra: [publishedCondition(published, draft)],
    },
    fields: {
      published,
      publishing: undefined,
      versions: once.slice(0, VERSIONS_SHOWN),
      draftFrom: published.id,
    },
  };
}

function listed(records: readonly BoxRecord[]): StatusFields<Box>['versions'] {
  const shown = shownVersions(records);
  return shown.length === 0 ? undefined : shown;
}

function making(number: string): Verdict {
  return verdict('Updating', `Version ${number} is being made`);
}

/** The version that is declared is not there: the resource is not as declared. */
function pending(said: Verdict, fields: StatusFields<Box> = {}): Convergence<Box> {
  const extra: ExtraCondition[] = [
    { type: 'Published', status: 'False', reason: said.reason, message: said.message },
  ];
  return { verdict: { ...said, extra: [...(said.extra ?? []), ...extra] }, fields };
}
