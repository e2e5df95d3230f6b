import { mostSimilar } from '../base/similar.ts';

/**
 * Every name of ours that is visible in a cluster, once: API group, annotations, finalizer, labels.
 */

/** The API group of all our kinds. */
export const GROUP = 'boxwright.dev';
/** The one served and stored version. */
export const VERSION = 'v1alpha1';
/** What stands in `apiVersion`. */
export const API_VERSION = `${GROUP}/${VERSION}`;
/** The category that `kubectl get boxwright` lists. */
export const CATEGORY = 'boxwright';

/** Holds a resource until its record is proved gone or is let go. */
export const FINALIZER = `${GROUP}/finalizer`;

/** Annotations; {@link ANNOTATION_NOTES} says who writes each and what it does. */
export const ANNOTATIONS = {
  adopt: `${GROUP}/adopt`,
  requestedAt: `${GROUP}/requested-at`,
  paused: `${GROUP}/paused`,
  renew: `${GROUP}/renew`,
  requestReinstall: `${GROUP}/request-reinstall`,
  requestReconfigure: `${GROUP}/request-reconfigure`,
  requestRedeploy: `${GROUP}/request-redeploy`,
  externalId: `${GROUP}/external-id`,
  claim: `${GROUP}/claim`,
  claimSeal: `${GROUP}/claim-seal`,
  createIntent: `${GROUP}/create-intent`,
  deployedLease: `${GROUP}/deployed-lease`,
  starts: `${GROUP}/starts`,
} as const;

/** Label of every leader Lease of ours, whatever its name. */
export const LEADER_LABEL = `${GROUP}/leader`;

/** Annotations of the leader Lease: what whoever asks may know of the operator that leads. */
export const LEADER_ANNOTATIONS = {
  /** Namespaces that it looks after, with commas; `*` for all. */
  namespaces: `${GROUP}/namespaces`,
  version: `${GROUP}/version`,
} as const;

/** What the reference says of an annotation. */
export interface AnnotationNote {
  writtenBy: 'user' | 'operator';
  on: string;
  meaning: string;
}

const ONCE = 'Each new value runs the operation once: now, or when the running operation has ended.';
const KEPT = 'Do not change it: the operator uses it to find the record again after a crash or a restore.';

/** Who writes each annotation, on what, and what it does. */
export const ANNOTATION_NOTES: Readonly<Record<keyof typeof ANNOTATIONS, AnnotationNote>> = {
  adopt: {
    writtenBy: 'user',
    on: 'Box, PolicyBox, Instance without a record, or with the reason `Ambiguous`',
    meaning: 'Adopts the record with this id instead of creating one, or keeps it of several.',
  },
  requestedAt: {
    writtenBy: 'user',
    on: 'every kind',
    meaning: 'A new value makes the operator reconcile now, and then appears in `status.lastHandledRequest`.',
  },
  paused: {
    writtenBy: 'user',
    on: 'every kind but Connection',
    meaning:
      '`"true"` has the same effect as `spec.paused`, as has any other value except `"false"` and an empty one.',
  },
  renew: {
    writtenBy: 'user',
    on: 'InstanceLease',
    meaning: 'A new value renews the lease: `after` starts again.',
  },
  requestReinstall: { writtenBy: 'user', on: 'Instance', meaning: ONCE },
  requestReconfigure: { writtenBy: 'user', on: 'Instance', meaning: ONCE },
  requestRedeploy: {
    writtenBy: 'user',
    on: 'Instance',
    meaning: `${ONCE} The service allows it after a failed deploy.`,
  },
  externalId: {
    writtenBy: 'operator',
    on: 'Box, PolicyBox, Instance',
    meaning: `The id of the record. ${KEPT}`,
  },
  claim: {
    writtenBy: 'operator',
    on: 'Box, PolicyBox, Instance',
    meaning: `Installation, marker and uid that claim the record. ${KEPT}`,
  },
  claimSeal: {
    writtenBy: 'operator',
    on: 'Box, PolicyBox, Instance',
    meaning:
      'The seal of the claim: key id, endpoint and owner (percent-encoded), and a keyed hash over the whole claim. A claim ' +
      `whose seal does not hold counts for nothing by itself. ${KEPT}`,
  },
  createIntent: {
    writtenBy: 'operator',
    on: 'Box, PolicyBox, Instance',
    meaning: `The create in progress, as JSON. ${KEPT}`,
  },
  deployedLease: {
    writtenBy: 'operator',
    on: 'Instance',
    meaning:
      'The source of the lease in the deploy request, as JSON, until status records it. It is not removed afterwards. Do not change it.',
  },
  starts: {
    writtenBy: 'operator',
    on: 'the leader Lease',
    meaning:
      'When the operator started the last twelve times. See the condition `Restarting` of a Connection.',
  },
};

/** One-shot operations of an Instance and the annotation that asks for each. */
export const REQUEST_ANNOTATIONS = {
  reinstall: ANNOTATIONS.requestReinstall,
  reconfigure: ANNOTATIONS.requestReconfigure,
  redeploy: ANNOTATIONS.requestRedeploy,
} as const;

/** A one-shot operation that an annotation can ask for. */
export type RequestedOperation = keyof typeof REQUEST_ANNOTATIONS;

/** Keys under our group that mean nothing: nobody reads them. */
export function unknownAnnotations(annotations: Readonly<Record<string, unknown>> | undefined): string[] {
  const known = new Set<string>(Object.values(ANNOTATIONS));
  return Object.keys(annotations ?? {}).filter((key) => key.startsWith(`${GROUP}/`) && !known.has(key));
}

/** What is wrong with an annotation that nobody reads. */
export function unknownAnnotationText(key: string): string {
  const keys = Object.keys(ANNOTATIONS) as (keyof typeof ANNOTATIONS)[];
  const users = keys.filter((each) => ANNOTATION_NOTES[each].writtenBy === 'user');
  const meant = mostSimilar(
    key,
    users.map((each) => ANNOTATIONS[each]),
  );
  return `the annotation ${key} means nothing${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}
