import type { InstanceOperationName } from '../../../service/index.ts';
import { wouldWipe } from '../../record/differences.ts';
import { uploadFingerprint } from '../../record/uploads.ts';
import type { InstanceObservation } from '../decide.ts';
import { accepts, phaseOf, type Pair } from '../pair.ts';
import type { AspectState, InstanceStep, Meant } from './state.ts';

/** Tags and variables on the record, and the operation that applies them. Pure. */
export function decideContent(seen: InstanceObservation, pair: Pair): AspectState {
  const { plan } = seen;
  const tags = tagsToPut(seen);
  if (seen.contentWaits !== undefined) {
    const mayPut = tags && plan.wiped.lease.length === 0;
    return mayPut
      ? { kind: 'steps', steps: [tagsAlone(seen)] }
      : { kind: 'held', verdict: seen.contentWaits };
  }
  const variables = variablesToPut(seen);
  if (variables) return putting(seen, tags);
  if (tags) {
    const { lease: wiped } = plan.wiped;
    return wiped.length > 0
      ? { kind: 'held', verdict: wouldWipe(wiped) }
      : { kind: 'steps', steps: [tagsAlone(seen)] };
  }
  const applying = apply(seen, pair);
  if (applying !== undefined) {
    const fingerprint = applying.do === 'begin' ? `${applying.operation} ${applying.hash}` : seen.contentHash;
    return { kind: 'steps', steps: [{ step: applying, fingerprint, differences: APPLIED }] };
  }
  const { differences } = plan;
  return differences.length > 0 && seen.drift !== 'Correct'
    ? { kind: 'inForce', drift: differences }
    : { kind: 'inForce', fingerprint: seen.contentHash };
}

const APPLIED = [{ field: 'variables', want: 'applied', have: 'not applied' }];

function putting(seen: InstanceObservation, tags: boolean): AspectState {
  const { plan } = seen;
  const meant: Meant[] = [];
  if (seen.missingFile !== undefined) {
    const file = seen.missingFile;
    meant.push({ step: { do: 'upload', file }, fingerprint: uploadFingerprint(file) });
  } else if (plan.wiped.content.length > 0) {
    return { kind: 'held', verdict: wouldWipe(plan.wiped.content) };
  } else {
    const isNew = plan.newTags.length > 0 || mustBeNoted(seen);
    const step: InstanceStep = isNew ? { do: 'noteManaged', of: 'content' } : { do: 'put', why: 'content' };
    meant.push({ step, fingerprint: seen.contentHash, differences: plan.differences });
  }
  if (tags && plan.wiped.lease.length === 0) meant.push(tagsAlone(seen));
  return { kind: 'steps', steps: meant };
}

/** The tags by a PUT of their own, which leaves the variables as they are. */
function tagsAlone({ plan, tagsHash }: InstanceObservation): Meant {
  const differences = plan.differences.filter(({ field }) => field.startsWith('tags.'));
  const step: InstanceStep =
    plan.newTags.length > 0 ? { do: 'noteManaged', of: 'tags' } : { do: 'put', why: 'tags' };
  return { step, fingerprint: `tags ${tagsHash}`, differences };
}

/** A change of the declaration is applied whatever driftPolicy says of what others change. */
function tagsToPut({ plan, drift, tagsHash, status }: InstanceObservation): boolean {
  return plan.tagsDiffer && (drift === 'Correct' || status.appliedTags !== tagsHash);
}

function variablesToPut(seen: InstanceObservation): boolean {
  const { plan, drift } = seen;
  const changed = seen.appliedHash !== seen.hash || seen.othersPut;
  return (changed && !seen.variablesPut) || (plan.variablesDiffer && (drift === 'Correct' || changed));
}

/** Whether a crash after the PUT would leave what nobody takes away again, or nobody can see. */
function mustBeNoted(seen: InstanceObservation): boolean {
  if (seen.plan.newVariables.length > 0) return true;
  if (seen.isBegunNoted) return false;
  const isHidden = seen.hasSecrets || seen.drift !== 'Correct';
  return seen.othersPut || (isHidden && seen.appliedHash !== seen.hash);
}

/** What follows once changed variables are on the record. */
function apply(seen: InstanceObservation, pair: Pair): InstanceStep | undefined {
  if (seen.appliedHash === seen.hash) return redeploy(seen, pair);
  const { applyChanges } = seen.spec;
  const phase = phaseOf(pair);
  if (applyChanges === 'None' || !seen.hashIsKnown) return { do: 'noteApplied' };
  if (phase === 'ShutDown') return undefined; // the next power-on applies them
  const poweredOn = pair.state === 'done' && pair.event === 'poweron';
  // By hand: its configure events had them.
  if (seen.putWhileDown && applyChanges === 'Reconfigure' && poweredOn) return { do: 'noteApplied' };
  const wanted: InstanceOperationName = isFailedDeploy(pair)
    ? 'deploy'
    : applyChanges === 'Reinstall'
      ? 'reinstall'
      : 'reconfigure';
  if (accepts(wanted, pair)) return { do: 'begin', operation: wanted, hash: seen.hash };
  if (accepts('reinstall', pair)) return { do: 'begin', operation: 'reinstall', hash: seen.hash };
  return undefined;
}

/** A box that has changed mends a deploy that failed, where the policy says so. */
function redeploy(seen: InstanceObservation, pair: Pair): InstanceStep | undefined {
  if (!isFailedDeploy(pair) || !seen.boxChanged) return undefined;
  if (seen.spec.failurePolicy.onBoxChanged === 'Hold') return undefined;
  return { do: 'begin', operation: 'deploy', hash: seen.hash };
}

function isFailedDeploy(pair: Pair): boolean {
  return pair.state === 'unavailable' && pair.event === 'deploy';
}
