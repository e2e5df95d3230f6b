import type { Instance } from '../../../api/instance.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import { upload } from '../../content/uploads.ts';
import type { DesiredVariable } from '../../content/variables.ts';
import { failureVerdict } from '../../record/decide.ts';
import type { Convergence } from '../../record/kind.ts';
import { backoffMs } from '../../record/looks.ts';
import { verdict } from '../../record/status/verdict.ts';
import type { DesiredInstance } from '../desired.ts';
import { pairOf, phaseOf } from '../pair.ts';
import type { InstancePass } from '../pass.ts';

/** Contents of File variables go up before the record can name them. */
export async function uploadNext(
  pass: InstancePass,
  record: InstanceRecord,
  desired: DesiredInstance,
): Promise<Convergence<Instance> | undefined> {
  const pair = pairOf(record);
  const phase = phaseOf(pair);
  // Nothing is sent while an operation runs, nor for an instance that shows what is not known here.
  if (pair.state === 'processing' || phase === 'Terminated' || phase === 'Unknown') return undefined;
  for (const variable of desired.variables) {
    const { file } = variable;
    if (file === undefined || urlOf(pass, record, variable, desired) !== undefined) continue;
    const write = await upload(pass.handle, file, pass.memory.uploads, pass.signal);
    if (write.kind === 'ok') {
      return {
        verdict: verdict('Updating', 'Files are being uploaded'),
        fields: {},
        again: true,
        quiet: true,
      };
    }
    const delay = backoffMs(pass.memory.failures++, pass.random);
    const said =
      write.kind === 'refused'
        ? verdict('Refused', `${file.path}: ${write.error.message}`)
        : failureVerdict(write.error, delay);
    return { verdict: said, fields: {} };
  }
  return undefined;
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
