import { ANNOTATIONS } from '../../../api/names.ts';
import { MAX_SKIP } from '../identity/intent.ts';
import type { SearchOutcome } from '../identity/search.ts';
import { verdict, type Verdict } from '../status/verdict.ts';
import { decideAdoption } from './adoption.ts';
import { claimMarked, guarded } from './marked.ts';
import { report, type RecordObservation, type RecordStep } from './observation.ts';
import { ambiguous, capital, searching, unmarked } from './words.ts';

/** Where nothing can be made in the place of a record that is gone, it is looked for so often, milliseconds. */
const FORMER_LOOK_MS = 600_000;

/** No claim counts: what carries the marker is claimed, else a record is made, once. */
export function decideNew<Rec, Desired>(seen: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  if (seen.created !== undefined) return { do: 'claim', id: seen.created };
  const away = sentElsewhere(seen);
  if (away !== undefined) {
    const way = `remove the annotation ${ANNOTATIONS.createIntent} to have another ${seen.noun} created here`;
    return report(verdict('NeedsUser', `${away}. Point the connection back, or ${way}`));
  }
  if (seen.paused) {
    const said = verdict('Paused', 'Paused: nothing is created until spec.paused is taken away');
    return decideUnderWay(seen, report(said));
  }
  const adopt = wordToAdopt(seen);
  if (adopt !== undefined && seen.intent === undefined) return decideAdoption(seen, adopt);
  if (seen.observeOnly) {
    const said = verdict(
      'WaitingForReference',
      `Nothing to observe yet: name the ${seen.noun} with the annotation boxwright.dev/adopt: <id>`,
    );
    return decideUnderWay(seen, seen.intent === undefined ? report(said) : clearIntent(seen));
  }
  if (seen.intent?.outcome === 'refused') return clearIntent(seen);
  if (adopt !== undefined && seen.intent?.outcome === 'unsent') return { do: 'clearIntent' };
  if (seen.desired === undefined) return { do: 'look', at: 'desired' };
  if (seen.desired.kind === 'waiting') return decideUnderWay(seen, report(seen.desired.verdict));
  const { desired } = seen.desired;
  const refusal = seen.refusal(desired);
  if (seen.intent === undefined && refusal !== undefined && !mayComeBack(seen)) return report(refusal);
  if (seen.intent?.outcome === 'unsent') {
    if (refusal !== undefined) return report(refusal);
    const { intent } = seen.intent;
    // Nothing is sent that no finalizer guards: it was wiped, or the cluster does not keep it.
    if (seen.hasFinalizer && seen.intentFits(intent, desired)) return { do: 'create', intent, desired };
    return { do: 'writeIntent', skip: intent.skip, try: intent.try, outcome: 'unsent', desired };
  }
  if (seen.search === undefined) return { do: 'look', at: 'search' };
  if (seen.search.kind === 'failed') return report(seen.search.verdict);

  const earlier = seen.intent?.intent;
  const full = (earlier?.skip.length ?? 0) >= MAX_SKIP;
  const found: SearchOutcome =
    seen.search.value.kind === 'terminated' && full ? { kind: 'none' } : seen.search.value;
  const open = seen.intent !== undefined && seen.search.startedAt < seen.intent.concludeFrom;
  const isFormer = (id: string): boolean => seen.former.some((one) => one.id === id);
  switch (found.kind) {
    case 'one':
      // What the create has made may not be listed yet, and would be nobody's.
      return open && isFormer(found.id) ? report(searching(5_000)) : claimMarked(seen, found.id);
    case 'several': {
      const [made, ...more] = found.ids.filter((id) => !isFormer(id));
      if (made !== undefined && more.length === 0) return { do: 'claim', id: made };
      if (seen.adopt !== undefined && found.ids.includes(seen.adopt)) {
        return { do: 'claim', id: seen.adopt };
      }
      return guarded(seen, report(ambiguous(seen.noun, found.ids)));
    }
    case 'terminating':
      return guarded(
        seen,
        report(
          verdict(
            'Creating',
            `Waits for the end of ${seen.noun} ${found.id}, an earlier one of this resource: end it on the service where ` +
              'it hangs',
            found.recheckAfterMs,
          ),
        ),
      );
    case 'terminated':
      return {
        do: 'writeIntent',
        skip: [...(earlier?.skip ?? []), ...found.ids].slice(0, MAX_SKIP),
        try: earlier?.try ?? 1,
        // What was sent before is still to be waited for: its record may be listed later than these.
        outcome: seen.intent === undefined ? 'unsent' : 'unknown',
        desired,
      };
    case 'nameTaken':
      if (adopt !== undefined && seen.intent !== undefined && !open) return { do: 'clearIntent' };
      return report(
        verdict(
          'NameTaken',
          `${capital(seen.noun)} ${found.id} has this name already: choose another spec.name, ` +
            `or take it over with the annotation boxwright.dev/adopt: ${found.id}`,
        ),
      );
    case 'none':
      if (seen.intent === undefined) {
        if (refusal !== undefined) return report(lookingForFormer(refusal));
        return { do: 'writeIntent', skip: [], try: 1, outcome: 'unsent', desired };
      }
      if (open) {
        return report(searching(seen.intent.concludeFrom - seen.search.startedAt));
      }
      // What is to be adopted is not created instead.
      if (adopt !== undefined) return { do: 'clearIntent' };
      if (found.unmarked !== undefined) return report(unmarked(seen.noun, found.unmarked));
      if (refusal !== undefined) return report(refusal);
      return {
        do: 'writeIntent',
        skip: seen.intent.intent.skip,
        try: seen.intent.intent.try + 1,
        outcome: 'unsent',
        desired,
      };
    default:
      return found satisfies never;
  }
}

/** What was sent to another service cannot be looked up here. */
export function sentElsewhere<Rec, Desired>({
  intent,
  noun,
}: RecordObservation<Rec, Desired>): string | undefined {
  if (intent?.outcome !== 'unknown' || intent.sentTo === undefined) return undefined;
  return (
    `A create of this resource went to ${intent.sentTo}, and whether it made a ${noun} there is not known; the ` +
    'connection is to another endpoint now'
  );
}

/**
 * Nothing is created now. What a create that was sent before has made is this resource's all the same, and so is an
 * earlier record that comes back.
 */
function decideUnderWay<Rec, Desired>(
  seen: RecordObservation<Rec, Desired>,
  otherwise: RecordStep<Rec, Desired>,
): RecordStep<Rec, Desired> {
  const { intent, search, former } = seen;
  const concludeFrom = intent?.outcome === 'unknown' ? intent.concludeFrom : undefined;
  const mayBeBack = mayComeBack(seen);
  if (concludeFrom === undefined && !mayBeBack) return otherwise;
  if (search === undefined) return { do: 'look', at: 'search' };
  if (search.kind === 'failed') return report(search.verdict);
  const { value: found, startedAt } = search;
  const isOpen = concludeFrom !== undefined && startedAt < concludeFrom;
  const isFormer = found.kind === 'one' && former.some(({ id }) => id === found.id);
  if (found.kind === 'one' && !(isOpen && isFormer)) return claimMarked(seen, found.id);
  if (found.kind === 'several') return report(ambiguous(seen.noun, found.ids));
  if (isOpen) return report(searching(5_000));
  return otherwise.do === 'report' && mayBeBack ? report(lookingForFormer(otherwise.verdict)) : otherwise;
}

/** One that was proved gone is taken back where it is there again before another was made. */
function mayComeBack<Rec, Desired>({ former }: RecordObservation<Rec, Desired>): boolean {
  return former.some(({ why }) => why === 'Gone');
}

/** The finalizer stays while earlier records are to go with the resource. */
export function clearIntent<Rec, Desired>({
  former,
}: RecordObservation<Rec, Desired>): RecordStep<Rec, Desired> {
  return { do: 'clearIntent', ...(former.length === 0 ? { finalizerToo: true } : {}) };
}

/** What was adopted before, and is gone or has ended since, is looked for as the earlier record that it is. */
function wordToAdopt<Rec, Desired>({ adopt, former }: RecordObservation<Rec, Desired>): string | undefined {
  return former.some(({ id, why }) => id === adopt && why !== 'Surplus') ? undefined : adopt;
}

/** A create is refused for long, and an earlier record may come back meanwhile. */
function lookingForFormer(refusal: Verdict): Verdict {
  const { recheckAfterMs = Infinity } = refusal;
  return { ...refusal, recheckAfterMs: Math.min(recheckAfterMs, FORMER_LOOK_MS) };
}
