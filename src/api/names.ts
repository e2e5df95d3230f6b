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
  createIntent: `${GROUP}/create-intent`,
  deployedLease: `${GROUP}/deployed-lease`,
} as const;

/** What the reference says of an annotation. */
export interface AnnotationNote {
  writtenBy: 'user' | 'operator';
  on: string;
  meaning: string;
}

const ONCE = 'A new value runs the operation once, now or when the running one has ended.';
const KEPT = 'Leave it alone: it is how the record is found again after a crash or a restore.';

/** Who writes each annotation, on what, and what it does. */
export const ANNOTATION_NOTES: Readonly<Record<keyof typeof ANNOTATIONS, AnnotationNote>> = {
  adopt: {
    writtenBy: 'user',
    on: 'Box, PolicyBox, Instance without a record',
    meaning: 'Take over the record with this id instead of making one.',
  },
  requestedAt: {
    writtenBy: 'user',
    on: 'every kind',
    meaning: 'A new value makes the operator look now; it is echoed in `status.lastHandledRequest`.',
  },
  paused: {
    writtenBy: 'user',
    on: 'every kind but Connection',
    meaning: '`"true"`, or any other value but `"false"` and an empty one, does what `spec.paused` does.',
  },
  renew: { writtenBy: 'user', on: 'InstanceLease', meaning: 'A new value counts `after` from now on.' },
  requestReinstall: { writtenBy: 'user', on: 'Instance', meaning: ONCE },
  requestReconfigure: { writtenBy: 'user', on: 'Instance', meaning: ONCE },
  requestRedeploy: {
    writtenBy: 'user',
    on: 'Instance',
    meaning: `${ONCE} The service takes it after a failed deploy.`,
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
  createIntent: {
    writtenBy: 'operator',
    on: 'Box, PolicyBox, Instance',
    meaning: `A create that is under way, as JSON. ${KEPT}`,
  },
  deployedLease: {
    writtenBy: 'operator',
    on: 'Instance',
    meaning:
      'Where the lease that it was deployed with comes from, as JSON, for as long as status does not say so. It stays; leave it alone.',
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
