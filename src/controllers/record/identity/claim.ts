import { ANNOTATIONS } from '../../../api/names.ts';
import type { Place, Sealed, SealReading, Seals } from './seal.ts';

/** Who claims a record: this operator for this very resource. */
export interface Claimant extends Sealed {
  marker: string;
}

/** The parts of a resource that can claim a record. */
export interface ClaimSource {
  annotations: Readonly<Record<string, string>> | undefined;
  /** `status.id`: no manifest can carry it, so it is a claim by itself. */
  statusId: string | undefined;
  /** Ids of the earlier records that status names. */
  former: readonly string[];
}

/** What the claim on a resource means for this operator. */
export type ClaimJudgement =
  | { kind: 'none' }
  /**
   * The record is ours. With `restore` the annotations have to be written (again); `seal`: what a seal that holds
   * says of where the record is.
   */
  | { kind: 'mine'; id: string; restore: boolean; seal?: ClaimSeal }
  /**
   * It says nothing by itself: anybody may have written it. `id`: what it claims, where it may have been written by
   * this installation.
   */
  | { kind: 'void'; message: string; id?: string }
  /**
   * Somebody may have a right to the record that cannot be judged here, so nothing is sent and nothing let go. `id`:
   * as above; `newer`: it is written in words that this version does not know.
   */
  | { kind: 'conflict'; message: string; id?: string; newer?: true };

/** A seal that holds, for this resource. */
export interface ClaimSeal extends Place {
  isCurrent: boolean;
  /** Not for an earlier resource of the name. */
  isOfPresentUid: boolean;
}

/** The annotations that claim record `id` for `claimant`; one patch writes them. Where it is has to be known for a seal. */
export function claimAnnotations(
  id: string,
  claimant: Claimant,
  seals: Seals,
  place: Place | undefined,
): Record<string, string | null> {
  return {
    [ANNOTATIONS.externalId]: id,
    [ANNOTATIONS.claim]: claimText(claimant),
    [ANNOTATIONS.claimSeal]: place === undefined ? null : seals.claim(claimant, id, place),
  };
}

/** Whether the claim on a resource names another installation: it is that one's, or somebody has made it up. */
export function isClaimedElsewhere(
  { metadata }: { metadata: { annotations?: Readonly<Record<string, string>> | undefined } },
  installationId: string,
): boolean {
  const claim = metadata.annotations?.[ANNOTATIONS.claim];
  return claim !== undefined && claim.split('/', 1)[0] !== installationId;
}

/** All annotations of a claim, taken away. */
export const NO_CLAIM: Readonly<Record<string, null>> = {
  [ANNOTATIONS.externalId]: null,
  [ANNOTATIONS.claim]: null,
  [ANNOTATIONS.claimSeal]: null,
};

function claimText({ installationId, marker, uid }: Claimant): string {
  return `${installationId}/${marker}/${uid}`;
}

const TO_TAKE_OVER =
  `remove the annotations ${ANNOTATIONS.externalId}, ${ANNOTATIONS.claim} and ${ANNOTATIONS.claimSeal}; to take that ` +
  `record over, set ${ANNOTATIONS.adopt}`;

/**
 * Judges the claim that a resource carries. Anybody who may write the resource can write annotations: they count where
 * their seal holds, or where status, which no author can write, says the same.
 *
 * @param isLiving - tells whether a resource of this kind with that uid exists: a claim of a dead uid under our
 * own marker is taken over (a restore or a recreate under the same name), one of a living uid is not.
 */
export function judgeClaim(
  source: ClaimSource,
  claimant: Claimant,
  readSeal: Seals['readClaim'],
  isLiving: (uid: string) => boolean,
): ClaimJudgement {
  const { annotations, statusId, former } = source;
  const id = annotations?.[ANNOTATIONS.externalId];
  const text = annotations?.[ANNOTATIONS.claim];
  // Status has taken another record back, and the annotations follow.
  const isFormer = id !== undefined && former.includes(id);
  if (isFormer && statusId !== undefined && id !== statusId)
    return { kind: 'mine', id: statusId, restore: true };

  const [installation, marker, uid = '', ...rest] = text?.split('/') ?? [];
  if (id === undefined)
    return statusId === undefined ? { kind: 'none' } : { kind: 'mine', id: statusId, restore: true };
  if (text !== undefined && installation !== claimant.installationId) {
    return conflict(
      `another Boxwright installation claims this record: to move it here, ${TO_TAKE_OVER}, ` +
        `or start this operator with that installation's id`,
    );
  }
  if (marker === claimant.marker && rest.length > 0) {
    const message =
      `the annotation ${ANNOTATIONS.claim} says more than this version of the operator knows: run the version ` +
      `that wrote it, or a newer one`;
    return { kind: 'conflict', message, newer: true };
  }
  const isOurs = marker === claimant.marker;
  const reading: SealReading = isOurs
    ? readSeal(annotations?.[ANNOTATIONS.claimSeal], { ...claimant, uid }, id)
    : { kind: 'false' };
  const seal =
    reading.kind === 'holds' ? { ...sealOf(reading), isOfPresentUid: uid === claimant.uid } : undefined;

  if (statusId !== undefined) {
    if (id !== statusId && seal !== undefined) return conflict(idsDiffer(id, statusId));
    const restore = id !== statusId || text !== claimText(claimant);
    return { kind: 'mine', id: statusId, restore, ...(seal === undefined ? {} : { seal }) };
  }
  if (text === undefined) {
    return nothing(
      `the annotation ${ANNOTATIONS.externalId} stands without a claim of this operator: ${TO_TAKE_OVER}`,
    );
  }
  if (!isOurs) return nothing(`the claim was copied from another resource: ${TO_TAKE_OVER}`);
  if (seal !== undefined) {
    if (!seal.isOfPresentUid && isLiving(uid)) {
      return nothing(`another living resource claims this record: ${TO_TAKE_OVER}`);
    }
    return { kind: 'mine', id, restore: !seal.isOfPresentUid, seal };
  }
  if (reading.kind === 'unreadable') {
    return {
      ...conflict(
        `the claim was sealed with a key that this operator does not have: bring the Secret of its key back, or start it ` +
          `once with --restore`,
      ),
      id,
    };
  }
  // Status says that it is ours until it is gone.
  if (isFormer) return { kind: 'mine', id, restore: false };
  return {
    ...nothing(
      `nothing shows that this operator wrote the claim on ${id}, and that record does not carry this resource's marker: ` +
        `${TO_TAKE_OVER}. After a restore of claims that were never sealed, start the operator once with --restore`,
    ),
    id,
  };
}

function sealOf({
  isCurrent,
  endpoint,
  owner,
}: Extract<SealReading, { kind: 'holds' }>): Omit<ClaimSeal, 'isOfPresentUid'> {
  return { isCurrent, endpoint, owner };
}

function conflict(message: string): { kind: 'conflict'; message: string } {
  return { kind: 'conflict', message };
}

function nothing(message: string): { kind: 'void'; message: string } {
  return { kind: 'void', message };
}

function idsDiffer(annotation: string, status: string): string {
  return (
    `the annotation ${ANNOTATIONS.externalId} names ${annotation}, sealed, and status.id names ${status}: ` +
    `remove the annotation to keep ${status}`
  );
}
