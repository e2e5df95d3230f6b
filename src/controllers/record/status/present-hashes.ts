import { domainOf, type Digest } from '../../digest.ts';
import type { ManagedResource } from '../resource.ts';

/** Where status shows keyed hashes, whichever the kind. */
interface Hashes {
  draftHash?: string;
  files?: { path: string; hmac: string }[];
  published?: { draftHash: string };
  publishing?: { draftHash: string };
  appliedHash?: string;
  /** `<hash>@<updated>`. */
  pendingHash?: string;
  currentOperation?: { changeHash?: string };
  box?: { draftHash?: string; nested?: { name: string; draftHash: string }[] };
}

/** What a hash is shown as in `files`. */
export function fileField(path: string): string {
  return `files.${path}`;
}

/**
 * The hashes of a status as this version shows them: those of an earlier one are comparable so, and are written anew
 * with the next status. Empty where there are none of an earlier one.
 */
export function presentHashes(resource: ManagedResource, digest: Digest): Hashes {
  const domain = domainOf(resource);
  const { namespace } = domain;
  const status = resource.status as Hashes;
  const own = (field: string, hash: string): string => digest.present(domain, field, hash);
  const ofBox = (name: string, hash: string): string =>
    digest.present({ kind: 'Box', namespace, name }, 'draftHash', hash);
  const { draftHash, published, publishing, files, appliedHash, pendingHash, currentOperation, box } = status;
  const { boxRef } = resource.spec as { boxRef?: { name: string } };
  const present: Hashes = {};
  if (draftHash !== undefined) present.draftHash = own('draftHash', draftHash);
  if (published !== undefined) {
    present.published = { ...published, draftHash: own('draftHash', published.draftHash) };
  }
  if (publishing !== undefined) {
    present.publishing = { ...publishing, draftHash: own('draftHash', publishing.draftHash) };
  }
  if (appliedHash !== undefined) present.appliedHash = own('appliedHash', appliedHash);
  if (pendingHash !== undefined) {
    const [hash = '', ...rest] = pendingHash.split('@');
    present.pendingHash = [own('appliedHash', hash), ...rest].join('@');
  }
  if (files !== undefined) {
    present.files = files.map((file) => ({ ...file, hmac: own(fileField(file.path), file.hmac) }));
  }
  if (currentOperation?.changeHash !== undefined) {
    const changeHash = own('appliedHash', currentOperation.changeHash);
    present.currentOperation = { ...currentOperation, changeHash };
  }
  if (box?.draftHash !== undefined && boxRef !== undefined) {
    const nested = box.nested?.map((one) => ({ ...one, draftHash: ofBox(one.name, one.draftHash) }));
    const hash = ofBox(boxRef.name, box.draftHash);
    present.box = { ...box, draftHash: hash, ...(nested === undefined ? {} : { nested }) };
  }
  const stored: Readonly<Record<string, unknown>> = { ...status };
  return Object.fromEntries(
    Object.entries(present).filter(
      ([field, value]) => JSON.stringify(value) !== JSON.stringify(stored[field]),
    ),
  );
}
