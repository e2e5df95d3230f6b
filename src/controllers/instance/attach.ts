import { tokenOf } from '../../api/tokens.ts';
import { wholeMinute } from '../../base/rfc3339.ts';
import type { Instance } from '../../api/instance.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { DesiredVariable } from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import { domainOf } from '../digest.ts';
import { policiesOf } from '../record/policies.ts';
import type { DesiredInstance } from './desired.ts';
import { deployedSource, sourceNote } from './lease/note.ts';
import type { LeaseChoice } from './lease/source.ts';
import { readLease, wantedLease, type NotedSource } from './lease/terms.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { urlOnly } from './put/files.ts';
import { installedBox } from './nested.ts';
import { pairOf, phaseOf } from './pair.ts';
import { planPut } from './put/plan.ts';

/** Longest `status.appliedOperation`, characters. */
const MARK_LIMIT = 128;

/** What a first look at a record makes of status: nothing that was asked for before counts as open. */
export function attach(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  projected: InstanceFields,
  context: OperatorContext,
): InstanceFields {
  const { resource, memory, now } = pass;
  const { status } = resource;
  if (status.appliedHash !== undefined) return broughtOther(pass, record, desired, context);
  const source =
    desired.lease.kind === 'source' && !desired.lease.source.paused ? desired.lease.source : undefined;
  const noted = status.lease?.source ?? deployedWith(resource, record, desired.lease);
  const lease =
    source === undefined
      ? undefined
      : wantedLease(source, {
          noted,
          deployed: record.lease ?? undefined,
          now,
          scheduled: desired.scheduled,
        });
  const { box, lease: shown } = projected;
  const origin = lease === undefined || lease.isNew ? noted : sourceNote(lease);
  const applied = memory.deployedHash ?? hashOnRecord(pass, record, desired, context);
  return {
    appliedHash: applied,
    handledRequests: { ...desired.requests },
    ...(box === undefined || desired.boxDraft === undefined ? {} : { box: installedBox(box, desired) }),
    ...(origin === undefined || status.lease?.source !== undefined
      ? {}
      : {
          lease: {
            operation: lease?.operation ?? shown?.operation ?? 'AlwaysOn',
            released: shown?.released ?? false,
            ...(shown?.expire === undefined ? {} : { expire: shown.expire }),
            source: origin,
          },
        }),
  };
}

/**
 * What was noted of the lease that the record was deployed with, unless another stands there by now. A note
 * without a seal counts only where its source is this Instance or the lease that it has.
 */
function deployedWith(
  instance: Instance,
  record: InstanceRecord,
  choice: LeaseChoice,
): NotedSource | undefined {
  const { source: noted, sealed = false } = deployedSource(instance, record.id) ?? {};
  if (noted === undefined) return undefined;
  const chosen = choice.kind === 'source' ? choice.source : undefined;
  const isChosen = noted.uid === chosen?.uid;
  if (sealed && isChosen && !chosen.paused) return noted;
  if (!sealed && !isChosen && noted.uid !== instance.metadata.uid) return undefined;
  const stands = readLease(record.lease);
  const ends = noted.expire === undefined ? undefined : wholeMinute(Date.parse(noted.expire));
  return stands?.expire !== undefined && wholeMinute(stands.expire) === ends ? noted : undefined;
}

/**
 * The machines have what the record had when an operation ran last. Where it has other variables than declared, and
 * shows an operation that was never seen with these in place, that was something else: the service keeps another form
 * of what was deployed, or somebody has changed a value and had it brought there. More than drift of the record.
 */
function broughtOther(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  context: OperatorContext,
): InstanceFields {
  const { appliedHash, appliedTags, appliedOperation } = pass.resource.status;
  const pair = pairOf(record);
  if (appliedHash !== desired.hash || desired.contentWaits !== undefined || pair.state !== 'done') return {};
  // That operation is known to have brought them, whatever the record makes of them since.
  if (appliedOperation !== undefined && appliedOperation === operationMark(record)) return {};
  const isDeployed = appliedTags !== undefined;
  const isSeen = appliedOperation === undefined;
  const isLeft = policiesOf(pass.resource, pass.handle, 'Hold').drift !== 'Correct';
  if (isDeployed && (isSeen || isLeft || phaseOf(pair) !== 'Online')) return {};
  const onRecord = hashOnRecord(pass, record, desired, context);
  return onRecord === appliedHash ? {} : { appliedHash: onRecord };
}

/** What `status.appliedOperation` says of the operation that a record shows. */
export function operationMark(record: InstanceRecord): string | undefined {
  return tokenOf(`${pairOf(record).event}@${record.operation?.created ?? ''}`, MARK_LIMIT);
}

/** The hash to start from on a record that was there before: ours when it shows what is declared. */
function hashOnRecord(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  context: OperatorContext,
): string {
  const managed = { tags: [], variables: [] };
  const urlOnRecord = (variable: DesiredVariable): string => urlOnly(record, variable) ?? '';
  const { variablesDiffer } = planPut(
    record,
    { marker: pass.marker, tags: [], variables: desired.variables, urlOf: urlOnRecord },
    managed,
  );
  return variablesDiffer
    ? context.digest.shown(
        domainOf(pass.resource),
        'appliedHash',
        context.digest.of('on record', canonicalJson(record.variables ?? [])),
      )
    : desired.hash;
}
