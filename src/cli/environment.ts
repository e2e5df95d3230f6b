/** Variables that are read beside those of the flags; the docs print this table. */
export const VARIABLES: readonly { name: string; meaning: string }[] = [
  {
    name: 'KUBECONFIG',
    meaning: 'kubeconfig files, where neither --kubeconfig nor its variable names one',
  },
  {
    name: 'KUBEBUILDER_ASSETS',
    meaning:
      'folder with kube-apiserver and etcd, and if it has them kube-controller-manager, kubectl and helm, for `boxwright dev`',
  },
  {
    name: 'XDG_CACHE_HOME',
    meaning: 'where the programs that `boxwright dev` fetches or builds are kept; default ~/.cache',
  },
  {
    name: 'XDG_DATA_HOME',
    meaning: 'where setup-envtest keeps its control planes, for `boxwright dev`; default ~/.local/share',
  },
  {
    name: 'ENVTEST_INSTALLED_ONLY',
    meaning: 'set to anything: `boxwright dev` fetches no control plane, as setup-envtest does not',
  },
  { name: 'TMPDIR', meaning: 'where a run of `boxwright dev` keeps its files' },
  {
    name: 'HTTPS_PROXY, HTTP_PROXY',
    meaning:
      'proxy for calls to services, and to the collector of traces, at https and http endpoints: http://[user:password@]host:port, or https://; also in small letters. The API server is called directly, or through the proxy-url of its kubeconfig',
  },
  {
    name: 'NO_PROXY',
    meaning:
      'hosts that are called without it, with commas: names (with all below them), .example.com, addresses, networks such as 10.0.0.0/8, each but a network with :port, or *; also in small letters',
  },
  { name: 'NO_COLOR', meaning: 'set to anything: no colours' },
];
