import { upload, type Uploading } from '../content/uploads.ts';
import type { DesiredFile } from '../content/variables.ts';
import { notAccepted, type Attempt } from './outcome.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** What an upload means for the ledger: the content of the file. */
export function uploadFingerprint({ path, hmac }: DesiredFile): string {
  return `${path} ${hmac}`;
}

/** Uploads one file and notes the try. Answers what to say where it is not there; undefined where it is. */
export async function uploadOnce(
  pass: Uploading,
  file: DesiredFile,
  attempt: Attempt,
): Promise<Verdict | undefined> {
  const { attempts, aspect, fingerprint } = attempt;
  const write = await upload(pass, file);
  if (write.kind !== 'ok') {
    return notAccepted(write, attempt, {
      refused: (message) =>
        verdict(
          'Refused',
          `${file.path}: ${message}. Change the file; it is tried again on a change, and slowly`,
        ),
    });
  }
  if (write.record !== undefined) {
    attempts.succeeded(aspect, fingerprint);
    return undefined;
  }
  const said = verdict('ServiceUnavailable', `${file.path}: the upload was answered without a blob`);
  return attempts.failed(aspect, fingerprint, said);
}

/** What to say while files go up. */
export function uploading(): Verdict {
  return verdict('Updating', 'Files are being uploaded');
}
