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

/** Annotations, by who writes them. */
export const ANNOTATIONS = {
  /** By the user: take over the record with this id. Only read on a resource without a record. */
  adopt: `${GROUP}/adopt`,
  /** By the user: look now. The value is echoed in `status.lastHandledRequest`. */
  requestedAt: `${GROUP}/requested-at`,
  /** By the user: `"true"` does what `spec.paused` does. */
  paused: `${GROUP}/paused`,
  /** By the user, on an InstanceLease: a new token counts `after` from now on. */
  renew: `${GROUP}/renew`,
  /** By the user, on an Instance: a new token runs the operation once. */
  requestReinstall: `${GROUP}/request-reinstall`,
  requestReconfigure: `${GROUP}/request-reconfigure`,
  requestRedeploy: `${GROUP}/request-redeploy`,
  /** By the operator: the id of the record that is ours. */
  externalId: `${GROUP}/external-id`,
  /** By the operator: `<installation id>/<marker>/<metadata.uid>`, proof that the record is ours. */
  claim: `${GROUP}/claim`,
  /** By the operator: JSON of a create that is under way. */
  createIntent: `${GROUP}/create-intent`,
} as const;

/** One-shot operations of an Instance and the annotation that asks for each. */
export const REQUEST_ANNOTATIONS = {
  reinstall: ANNOTATIONS.requestReinstall,
  reconfigure: ANNOTATIONS.requestReconfigure,
  redeploy: ANNOTATIONS.requestRedeploy,
} as const;

/** A one-shot operation that an annotation can ask for. */
export type RequestedOperation = keyof typeof REQUEST_ANNOTATIONS;
