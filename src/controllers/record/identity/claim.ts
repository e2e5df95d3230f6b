import { ANNOTATIONS } from '../../../api/names.ts';

/** Who claims a record: this operator for this very resource. */
export interface Claimant {
  installationId: string;
  marker: string;
  uid: string;
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
  /** The record is ours. With `restore` the annotations have to be written (again). */
  | { kind: 'mine'; id: string; restore: boolean }
  /** `newer`: it may be ours, in words that this version does not know. Nothing is let go either. */
  | { kind: 'conflict'; message: string; newer?: true };

/** The annotations that claim record `id` for `claimant`; one patch writes them. */
export function claimAnnotations(id: string, claimant: Claimant): Record<string, string> {
  return {
    [ANNOTATIONS.externalId]: id,
    [ANNOTATIONS.claim]: `${claimant.installationId}/${claimant.marker}/${claimant.uid}`,
  };
}

/**
 * Judges the claim that a resource carries.
 *
 * @param isLiving - tells whether a resource of this kind with that uid exists: a claim of a dead uid under our
 * own marker is taken over (a restore or a recreate under the same name), one of a living uid is not.
 */
export function judgeClaim(
  source: ClaimSource,
  claimant: Claimant,
  isLiving: (uid: string) => boolean,
): ClaimJudgement {
  const { statusId, former } = source;
  const noted = source.annotations?.[ANNOTATIONS.externalId];
  // Status has taken another record back, and the annotations follow.
  const isFormer =
    noted !== undefined && statusId !== undefined && noted !== statusId && former.includes(noted);
  const id = isFormer ? undefined : noted;
  const text = isFormer ? undefined : source.annotations?.[ANNOTATIONS.claim];

  if (id === undefined || text === undefined) {
    if (statusId !== undefined) {
      if (id !== undefined && id !== statusId) return conflict(idsDiffer(id, statusId));
      return { kind: 'mine', id: statusId, restore: true };
    }
    if (id !== undefined) {
      return conflict(
        `the annotation ${ANNOTATIONS.externalId} stands without a claim of this operator: ` +
          `remove it, or take the record over with ${ANNOTATIONS.adopt}`,
      );
    }
    return { kind: 'none' };
  }

  const [installation, marker, uid, ...rest] = text.split('/');
  if (installation !== claimant.installationId) {
    return conflict(
      `another Boxwright installation claims this record: to move it here, remove the annotations ` +
        `${ANNOTATIONS.externalId} and ${ANNOTATIONS.claim} and set ${ANNOTATIONS.adopt}, ` +
        `or start this operator with that installation's id`,
    );
  }
  if (marker === claimant.marker && rest.length > 0) {
    const message =
      `the annotation ${ANNOTATIONS.claim} says more than this version of the operator knows: run the version ` +
      `that wrote it, or a newer one`;
    return { kind: 'conflict', message, newer: true };
  }
  if (marker !== claimant.marker || uid === undefined) {
    return conflict(
      `the claim was copied from another resource: remove the annotations ${ANNOTATIONS.externalId} and ` +
        `${ANNOTATIONS.claim}; to take that record over once it is free, set ${ANNOTATIONS.adopt}`,
    );
  }
  if (statusId !== undefined && statusId !== id) return conflict(idsDiffer(id, statusId));
  if (uid === claimant.uid) return { kind: 'mine', id, restore: false };
  if (isLiving(uid)) {
    return conflict(
      `another living resource claims this record: remove the annotations ${ANNOTATIONS.externalId} and ` +
        `${ANNOTATIONS.claim} from the one that shall not have it`,
    );
  }
  return { kind: 'mine', id, restore: true };
}

function conflict(message: string): ClaimJudgement {
  return { kind: 'conflict', message };
}

function idsDiffer(annotation: string, status: string): string {
  return (
    `the annotation ${ANNOTATIONS.externalId} names ${annotation} and status.id names ${status}: ` +
    `remove the annotation to keep ${status}`
  );
}
