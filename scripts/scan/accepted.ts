/** A finding that stays, and why. */
export interface Accepted {
  scanner: string;
  check: string;
  /** Only where the object's kind and name, `Kind/name`, fit. @default everywhere */
  object?: RegExp;
  reason: string;
}

export const ACCEPTED: readonly Accepted[] = [
  {
    scanner: 'kube-score',
    check: 'container-resources',
    reason:
      'A CPU limit throttles the renewal of the leader lease; there is a CPU request. It is a value: resources.limits.',
  },
  {
    scanner: 'kube-score',
    check: 'container-image-pull-policy',
    reason:
      'A release has its own tag, and image.digest pins it: what is there already need not be pulled again.',
  },
];
