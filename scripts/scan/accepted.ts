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
  {
    scanner: 'trivy',
    check: 'KSV-0007',
    reason: 'Host aliases are there only where values ask for them.',
  },
  {
    scanner: 'trivy',
    check: 'KSV-0011',
    reason:
      'A CPU limit throttles the renewal of the leader lease; there is a CPU request. It is a value: resources.limits.',
  },
  {
    scanner: 'trivy',
    check: 'KSV-0036',
    object: /access/,
    reason: 'The test asks the API server what the ServiceAccount may do, which takes its token.',
  },
  {
    scanner: 'trivy',
    check: 'KSV-0041',
    reason:
      'Only get, for the Secrets that resources refer to by name. Where namespaces are named there is no ClusterRole for them.',
  },
  {
    scanner: 'trivy',
    check: 'KSV-0049',
    object: /^Role\/boxwright$/,
    reason:
      'Of the operator’s own namespace: create, and get and patch of the one that it names by resourceNames.',
  },
  {
    scanner: 'trivy',
    check: 'KSV-0113',
    reason:
      'In its own namespace create, and get and patch of one by its name; in those that are named only get, for credentials and values that resources refer to.',
  },
  {
    scanner: 'trivy',
    check: 'KSV-0125',
    reason: 'Its list of registries is of clouds; image.registry and image.digest choose another and pin it.',
  },
];
