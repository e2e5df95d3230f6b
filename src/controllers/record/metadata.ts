import type { KubeClient, ResourceType } from '../../kube/index.ts';
import { FINALIZER } from '../../api/names.ts';
import type { Meta } from '../../api/resource.ts';

/** The part of metadata that the operator writes. */
export interface OwnMetadata {
  /** null takes an annotation away. */
  annotations?: Readonly<Record<string, string | null>> | undefined;
  finalizers?: readonly string[] | undefined;
}

/** Thrown when the API server takes a change of metadata and something in the cluster changes it on the way. */
export class MetadataNotKeptError extends Error {
  readonly code = 'MetadataNotKept';
  /** What was not kept, in words. */
  readonly what: string;

  constructor(what: string) {
    super(`the cluster did not keep ${what}`);
    this.name = 'MetadataNotKeptError';
    this.what = what;
  }
}

/**
 * Writes metadata in one patch that a stale version makes fail, and answers the object as stored. Nothing may rest on
 * what a policy or a webhook has taken out of the patch: then {@link MetadataNotKeptError} is thrown.
 */
export async function patchMetadata(
  kube: Pick<KubeClient, 'mergePatch'>,
  type: ResourceType,
  { metadata: { name, namespace, resourceVersion } }: { metadata: Meta },
  metadata: OwnMetadata,
  { signal, remember }: { signal: AbortSignal; remember: (raw: object) => void },
): Promise<void> {
  const options = { resourceVersion, signal };
  const raw = await kube.mergePatch(type, { name, namespace }, { metadata }, options);
  remember(raw);
  const lost = notKept(metadata, raw.metadata);
  if (lost !== undefined) throw new MetadataNotKeptError(lost);
}

function notKept(
  written: OwnMetadata,
  { annotations = {}, finalizers = [] }: OwnMetadata,
): string | undefined {
  for (const [name, value] of Object.entries(written.annotations ?? {})) {
    if ((annotations[name] ?? null) === value) continue;
    return value === null ? `the removal of the annotation ${name}` : `the annotation ${name}`;
  }
  // Those of others are theirs.
  const shall = written.finalizers?.includes(FINALIZER);
  if (shall === undefined || shall === finalizers.includes(FINALIZER)) return undefined;
  return shall ? `the finalizer ${FINALIZER}` : `the removal of the finalizer ${FINALIZER}`;
}

/** Whether a deletion has to come by the operator. */
export function isHeld({ finalizers }: Pick<Meta, 'finalizers'>): boolean {
  return finalizers?.includes(FINALIZER) === true;
}

/** What holds a deletion, those of others included; nothing to write where the operator holds it already. */
export function holding(metadata: Pick<Meta, 'finalizers'>): Pick<OwnMetadata, 'finalizers'> {
  return isHeld(metadata) ? {} : { finalizers: [...(metadata.finalizers ?? []), FINALIZER] };
}

/** Lets go; what others hold it for stays. */
export function lettingGo({ finalizers = [] }: Pick<Meta, 'finalizers'>): Pick<OwnMetadata, 'finalizers'> {
  return { finalizers: finalizers.filter((name) => name !== FINALIZER) };
}
