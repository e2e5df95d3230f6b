import { canonicalJson } from '../../base/hash.ts';
import type { InstanceRecord } from '../../service/index.ts';
import type { DesiredVariable } from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import type { DesiredInstance } from './desired.ts';
import { sourceNote } from './lease/note.ts';
import { wantedLease } from './lease/terms.ts';
import type { InstanceFields, InstancePass } from './pass.ts';
import { urlOnly } from './put/files.ts';
import { planPut } from './put/plan.ts';
import { projectInstance } from './status.ts';

/** What a first look at a record makes of status: nothing that was asked for before counts as open. */
export function attach(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
  context: OperatorContext,
): InstanceFields {
  const { resource, memory, now } = pass;
  const { status } = resource;
  if (status.appliedHash !== undefined) return {};
  const source =
    desired.lease.kind === 'source' && !desired.lease.source.paused ? desired.lease.source : undefined;
  const lease =
    source === undefined
      ? undefined
      : wantedLease(source, { noted: status.lease?.source, deployed: record.lease ?? undefined, now });
  const { box, lease: shown } = projectInstance(resource, record);
  const applied = memory.deployedHash ?? hashOnRecord(pass, record, desired, context);
  return {
    appliedHash: applied,
    handledRequests: { ...desired.requests },
    ...(box === undefined || desired.boxDraft === undefined
      ? {}
      : { box: { ...box, draftHash: desired.boxDraft } }),
    ...(lease === undefined || lease.isNew || status.lease?.source !== undefined
      ? {}
      : {
          lease: {
            operation: lease.operation,
            released: shown?.released ?? false,
            ...(shown?.expire === undefined ? {} : { expire: shown.expire }),
            source: sourceNote(lease),
          },
        }),
  };
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
    ? context.digest.of('on record', canonicalJson(record.variables ?? []))
    : desired.hash;
}
