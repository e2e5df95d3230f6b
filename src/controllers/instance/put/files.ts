import type { InstanceRecord } from '../../../service/index.ts';
import type { DesiredFile, DesiredVariable } from '../../content/variables.ts';
import type { DesiredInstance } from '../desired.ts';
import type { InstancePass } from '../pass.ts';

/** A file that has to go up before the record can name it. */
export function missingFile(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
): DesiredFile | undefined {
  return desired.variables.find(
    (variable) => variable.file !== undefined && urlOf(pass, record, variable, desired) === undefined,
  )?.file;
}

/** Where the blob of a File variable is, when it was uploaded already. */
export function urlOf(
  pass: InstancePass,
  record: InstanceRecord,
  variable: DesiredVariable,
  desired: DesiredInstance,
): string | undefined {
  const own = variable.file === undefined ? undefined : pass.memory.uploads.get(variable.file.path);
  if (own !== undefined && own.hmac === variable.file?.hmac) return own.blob.url;
  const { appliedHash } = pass.resource.status;
  // Nothing was uploaded by this process: while the declaration is what was applied last, the record is right.
  if (appliedHash === undefined || appliedHash === desired.hash) return urlOnly(record, variable);
  return undefined;
}

/** What the record names as the blob of a File variable. */
export function urlOnly(record: InstanceRecord, variable: DesiredVariable): string | undefined {
  const found = record.variables?.find(
    (other) => other.name === variable.name && (other.scope ?? '') === variable.scope,
  );
  return typeof found?.value === 'string' ? found.value : undefined;
}
