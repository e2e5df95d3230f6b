import { canSee, canSeeBox } from '../access.ts';
import type { BlobDoc } from '../model.ts';
import type { Caller, Service } from '../service.ts';
import { blobByUrl, blobIdIn } from './url.ts';

/**
 * The blob behind a download path, when the caller may read it: its own upload, or part of something that the
 * caller can see.
 */
export function visibleBlob(service: Service, caller: Caller, url: string): BlobDoc | undefined {
  const blob = blobByUrl(service, url);
  return blob !== undefined && canSeeBlob(service, caller, blob) ? blob : undefined;
}

export function canSeeBlob(service: Service, caller: Caller, blob: BlobDoc): boolean {
  // Data of earlier versions do not say who uploaded a file.
  if (blob.account === undefined || blob.account === caller.account) return true;
  const { boxes, revisions, instances, organizations, workspaces, providers } = service.store;
  if (boxes.by('blob', blob.id).some((box) => canSeeBox(service, caller, box))) return true;
  const deployed = [
    ...instances.by('blob', blob.id),
    ...revisions.by('blob', blob.id).flatMap(({ id }) => instances.by('revision', id)),
  ];
  if (deployed.some((instance) => canSee(caller, instance))) return true;
  const isIcon = (icon: unknown): boolean => typeof icon === 'string' && blobIdIn(icon) === blob.id;
  return (
    isIcon(organizations.get(caller.organization)?.fields['icon']) ||
    workspaces.all().some(({ id, icon }) => caller.workspaces.has(id) && isIcon(icon)) ||
    providers.all().some((provider) => isIcon(provider.icon) && canSee(caller, provider))
  );
}
