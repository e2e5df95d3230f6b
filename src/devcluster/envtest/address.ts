/** The list of archives that setup-envtest reads when it is told of no other one. */
export const ENVTEST_INDEX =
  'https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml';
