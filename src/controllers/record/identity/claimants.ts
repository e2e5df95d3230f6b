/** What tells the older of two resources. */
interface Aged {
  metadata: { uid: string; creationTimestamp: string };
}

/** Of two claimants the older has the record: by creationTimestamp, then by uid. */
export function isOlderClaimant(other: Aged, than: Aged): boolean {
  if (other.metadata.uid === than.metadata.uid) return false;
  const a = other.metadata.creationTimestamp;
  const b = than.metadata.creationTimestamp;
  return a < b || (a === b && other.metadata.uid < than.metadata.uid);
}
