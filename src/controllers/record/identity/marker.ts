import { sha256Base32 } from '../../../base/hash.ts';

/** What a marker is made of: stable over delete and recreate under one name, on purpose. */
export interface MarkedResource {
  kind: string;
  namespace: string;
  name: string;
}

/**
 * The marker that the record of a resource carries on the service: `bw-`, 8 characters of the installation,
 * `-`, 16 of the resource; 28 in all, so it fits a tag (at most 30 characters, service-behaviour.md 2.5) and
 * serves as a provisional name.
 */
export function markerOf(installationId: string, resource: MarkedResource): string {
  return `${markerPrefix(installationId)}${ownPart(resource)}`;
}

/** What a marker says of the resource, in any installation. */
export function ownPart({ kind, namespace, name }: MarkedResource): string {
  return sha256Base32(kind, namespace, name).slice(0, 16);
}

/** What those of some texts that are markers of an installation say of resources. */
export function markersOn(texts: readonly unknown[], installationId: string): string[] {
  const prefix = markerPrefix(installationId);
  return texts.flatMap((text) =>
    typeof text === 'string' && text.startsWith(prefix) ? [text.slice(prefix.length)] : [],
  );
}

/** What all markers of one installation begin with. */
export function markerPrefix(installationId: string): string {
  return `bw-${sha256Base32(installationId).slice(0, 8)}-`;
}
