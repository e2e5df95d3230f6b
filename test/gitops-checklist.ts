/**
 * What GitOps tools, kubectl and Helm expect of an operator, line by line, with the tests that show it, or the
 * reason where no test here can. `node scripts/gitops-table.ts` prints it; a unit test holds the names true.
 */

/** A test: its file below the root, and its name or a telling part of it. */
export type Shown = readonly [file: string, name: string];

/** One line of the checklist. */
export interface ChecklistLine {
  id: string;
  says: string;
  tests: readonly Shown[];
  /** What the tests leave out, and why; for a line without tests, why there are none. */
  note?: string;
}

const KINDS = 'src/api/kinds.test.ts';
const VERDICT = 'src/controllers/record/status/verdict.test.ts';
const IMMUTABLE = 'test/api/defaults-and-immutability.test.ts';
const CRDS = 'test/api/crds.test.ts';
const KSTATUS = 'test/flux/kstatus.test.ts';
const APPLY = 'test/flux/apply.test.ts';
const SAMPLES = 'test/flux/samples.test.ts';
const ARGO = 'test/argocd/customizations.test.ts';
const DAY = 'test/argocd/day.test.ts';
const LIFECYCLE = 'test/e2e/lifecycle.test.ts';
const KUBECTL = 'test/kubectl/kubectl.test.ts';
const OPERATIONS = 'test/e2e/operations.test.ts';
const RENDER = 'test/chart/render.test.ts';
const PODS = 'test/chart/pods.test.ts';
const ROLES = 'test/chart/roles.test.ts';
const SERVER = 'test/chart/server.test.ts';
const UPGRADE = 'test/upgrade/upgrade.test.ts';
const TEARDOWN = 'test/scenarios/teardown.test.ts';
const LEAVING = 'test/chart/leaving.test.ts';
const INSTALL = 'test/chart/install.test.ts';
const HELM_VERSIONS = 'test/chart/helm-versions.test.ts';
const KEPT_CRDS = 'test/chart/kept-crds.test.ts';
const NEW_CLUSTER = 'test/gitops/new-cluster.test.ts';
const GUARD = 'test/gitops/guard/cases.ts';
const GUIDE = 'test/guides/install.test.ts';
const NO_FLUX = 'Flux’s own packages stand for its controllers.';
const NO_ARGO = 'Argo CD’s Lua contract, in its interpreter, stands for its controller.';

/** The lines G01 to G64. */
export const CHECKLIST: readonly ChecklistLine[] = [
  line('G01', 'status subresource and observedGeneration', [
    KINDS,
    'says in status that nobody has looked yet',
  ]),
  line(
    'G02',
    'an untouched object is in progress',
    [IMMUTABLE, 'a resource that nobody has looked at says so on the first read'],
    [KSTATUS, 'takes an object that no operator has seen for one in progress'],
  ),
  line('G03', 'conditions as metav1.Condition, with their own generation', [
    KSTATUS,
    'has conditions of the one shape, each of the generation that it speaks of',
  ]),
  {
    ...line('G04', 'every kind has Ready', [LIFECYCLE, 'become Ready, every kind, after one kubectl apply']),
    note: 'There is no cluster-scoped kind yet.',
  },
  line(
    'G05',
    'Reconciling and Stalled only while True, never both',
    [VERDICT, 'always have Ready, and never Reconciling and Stalled together'],
    [KSTATUS, 'has Reconciling and Stalled only while True, and never both'],
  ),
  line('G06', 'a new generation is taken note of within seconds, outage or not', [
    KSTATUS,
    'takes note of a new generation within five seconds while the service is silent',
  ]),
  line('G07', 'lastTransitionTime moves with the status only', [
    VERDICT,
    'move lastTransitionTime only with the status',
  ]),
  line(
    'G08',
    'what means the same is not written',
    ['src/kube/patches.test.ts', 'is undefined when the new status means the same'],
    ['test/scenarios/instance.test.ts', 'writes nothing anywhere once settled, and nothing after a restart'],
  ),
  line(
    'G09',
    'reasons of a closed list, messages without what moves',
    [KINDS, 'each says what to do, in whole sentences, and fits a condition'],
    [KSTATUS, 'gives reasons of the closed list, and messages in which nothing moves'],
  ),
  line(
    'G10',
    'status is sorted and bounded',
    [VERDICT, 'are sorted, and cut what is too long'],
    [KSTATUS, 'stays far below 20 kB, with sorted conditions'],
  ),
  line('G11', 'definitions fit client-side apply', [
    KINDS,
    'fits into what a client-side apply can carry, without template marks',
  ]),
  line(
    'G12',
    'no template marks in definitions',
    [KINDS, 'fits into what a client-side apply can carry, without template marks'],
    [RENDER, 'has nothing that Flux would take for a variable'],
  ),
  line('G13', 'immutability by rules that say what to do', [
    IMMUTABLE,
    'a changed field of an Instance is refused and named',
  ]),
  line(
    'G14',
    'static defaults, no webhook',
    [IMMUTABLE, 'the parser fills what the API server fills'],
    [ROLES, 'have no wildcard, no delete, and nothing by which rights grow'],
  ),
  {
    ...line(
      'G15',
      'everything is bounded',
      ['src/api/schema/structural.test.ts', 'is refused: %s'],
      [SERVER, 'is accepted as a whole'],
    ),
    note: 'The cost of rules is judged by the API server of this project only, not by older ones.',
  },
  line('G16', 'what was typed stays as typed', [
    LIFECYCLE,
    'show no difference and are unchanged when applied again',
  ]),
  line(
    'G17',
    'several tools may share a list',
    [IMMUTABLE, 'two tools each have their own variables of one Box'],
    [KINDS, 'keys its lists by properties that are always written out'],
  ),
  line(
    'G18',
    'columns, short names, category, descriptions',
    [KINDS, 'has columns from READY to AGE, a short name of its own and the category'],
    [KUBECTL, 'shows every kind in 160 columns, and what counts in 80'],
  ),
  line('G19', 'scale subresource'),
  line('G20', 'selectable fields', [IMMUTABLE, 'fields that are offered for selection select']),
  line(
    'G21',
    'a plan for a second version',
    ['src/api/versions.test.ts', 'are one, served and stored; a second one has its move written down'],
    ['src/api/versions.test.ts', 'have a plan that names every kind when what is stored is migrated'],
  ),
  {
    ...line(
      'G22',
      'old definitions with a new operator, and the reverse',
      [UPGRADE, 'sends nothing when the present operator takes over on the older definitions'],
      [UPGRADE, 'sends nothing when the older operator comes back to the present definitions'],
      ['test/scenarios/definitions.test.ts', 'it is not sent until they are brought'],
      ['test/scenarios/definitions.test.ts', 'in status fields that are not known here is kept'],
      [
        'test/api/older-schema.test.ts',
        'a stored object that an older schema let through is named, not thrown over',
      ],
    ),
    note: 'The older version is a commit, built from the history, until there is a release.',
  },
  {
    ...line('G23', 'Flux waits until the external object is up', [
      APPLY,
      'applies the examples, waits until they are up',
    ]),
    note: NO_FLUX,
  },
  {
    ...line('G24', 'Flux hears of a bad spec at once', [
      APPLY,
      'hears of a declaration that the service refuses at once',
    ]),
    note: NO_FLUX,
  },
  {
    ...line(
      'G25',
      'Flux sits out an outage',
      [APPLY, 'sits out an outage of the service'],
      [KSTATUS, 'never takes an outage, a missing reference or a missing Secret for a failure'],
    ),
    note: `${NO_FLUX} The outage is seconds long, or 30 minutes in virtual time.`,
  },
  {
    ...line(
      'G26',
      'no drift',
      [APPLY, 'finds no drift afterwards'],
      [DAY, 'changes nothing of what was applied'],
    ),
    note: `${NO_FLUX} The day is one of virtual time, in one process.`,
  },
  {
    ...line(
      'G27',
      'pruning deletes, Orphan keeps',
      [APPLY, 'prunes them to the end'],
      [APPLY, 'what is to stay there'],
    ),
    note: NO_FLUX,
  },
  {
    ...line(
      'G28',
      'operator and resources from one repository',
      [SAMPLES, 'for the operator and one that waits for it'],
      [NEW_CLUSTER, 'come up in the order of dependsOn, and end when one commit takes everything away'],
    ),
    note: `${NO_FLUX} Helm installs what the HelmRelease says; that its pods are ready is not waited for.`,
  },
  line('G29', 'a request annotation runs once and is echoed', [
    OPERATIONS,
    'is reinstalled once for each new request',
  ]),
  {
    ...line(
      'G30',
      'health expressions',
      [KSTATUS, 'agrees with the expressions for health checks that go with us'],
      [SAMPLES, 'adds expressions for every kind where the component for health checks is taken in'],
    ),
    note: 'Evaluated by a CEL library for JavaScript, not by Flux’s.',
  },
  {
    ...line(
      'G31',
      'HelmRelease upgrade with changed definitions',
      [SAMPLES, 'replaces definitions on upgrade'],
      [KEPT_CRDS, 'stay with their resources when it goes, and come under the next one'],
    ),
    note: 'Upgraded by Helm, whose library Flux’s controller is built on, with the values of the sample; the controller itself needs a running Flux.',
  },
  line(
    'G32',
    'Argo CD health of every kind',
    [ARGO, 'pass the tests that go with them in the layout of Argo CD'],
    [ARGO, 'say the same of a captured object in every order of its conditions'],
    [ARGO, 'are safe on objects that lack status, conditions, messages or annotations'],
  ),
  {
    ...line('G33', 'Argo CD actions', [ARGO, 'offer on each captured object only what makes sense']),
    note: 'The service has no restart; stop, start and reinstall take its place.',
  },
  {
    ...line(
      'G34',
      'Synced for a day under self-heal',
      [DAY, 'changes nothing of what was applied'],
      [DAY, 'finds nothing to do when it is applied again'],
      [GUARD, 'finds every sample and every kind with each optional field left out as it was applied'],
    ),
    note: 'What Argo CD compares, over a day of virtual time; needs a running Argo CD to be shown whole.',
  },
  {
    ...line(
      'G35',
      'the same by server-side apply',
      [DAY, 'finds nothing to do when it is applied again'],
      [LIFECYCLE, 'can be applied on the server side too, without a conflict'],
      [GUARD, 'finds every sample and every kind with each optional field left out as it was applied'],
    ),
    note: NO_ARGO,
  },
  line('G36', 'waves wait for health'),
  {
    ...line(
      'G37',
      'kinds and resources in one Application',
      [SERVER, 'is accepted as a whole, CRDs and everything that can be switched on included'],
      [NEW_CLUSTER, 'for Argo CD come up wave by wave, and no namespace is pruned'],
    ),
    note: 'That the sync skips the dry run of kinds to come is Argo CD’s part: the sample sets it.',
  },
  {
    ...line(
      'G38',
      'cascading deletion ends',
      [TEARDOWN, 'ends and leaves no record, whatever goes first'],
      [LIFECYCLE, 'are all deleted by one kubectl delete, credentials included, and leave no record'],
    ),
    note: 'Prune=false and Delete=confirm are Argo CD’s own and need a running one.',
  },
  line('G39', 'marks are not copied', [
    DAY,
    'copies its marks to no other object, which Argo CD would prune',
  ]),
  line(
    'G40',
    'the chart renders the same twice',
    [RENDER, 'renders the same twice, with everything switched on'],
    [HELM_VERSIONS, 'renders the same twice: %s'],
    [HELM_VERSIONS, 'renders what Helm 4 renders: %s'],
  ),
  line('G41', 'no hooks, no look-ups', [RENDER, 'has no hook but the test, and looks nothing up']),
  line('G42', 'paused is Suspended', [
    ARGO,
    'say the same of a captured object in every order of its conditions',
  ]),
  line('G43', 'waiting waits for the new generation', [
    LIFECYCLE,
    'are waited for in their new generation right after a change',
  ]),
  line(
    'G44',
    'waiting for deletion ends, and says what for',
    [KUBECTL, 'tells whoever waits for a deletion what it waits for'],
    [LIFECYCLE, 'are all deleted by one kubectl delete, credentials included, and leave no record'],
  ),
  line(
    'G45',
    'kubectl diff is empty',
    [CRDS, '%s is taken as it is, and a second time changes nothing'],
    [LIFECYCLE, 'show no difference and are unchanged when applied again'],
  ),
  line(
    'G46',
    'applied twice is unchanged; applyset prunes',
    [LIFECYCLE, 'show no difference and are unchanged when applied again'],
    [KUBECTL, 'prunes what left the set, and its record'],
  ),
  line('G47', 'kubectl explain has a word on everything', [CRDS, 'every field of $kind is explained']),
  line(
    'G48',
    'definitions in templates, kept; a chart of their own; small',
    [RENDER, 'installs the CRDs, kept when the release goes, or leaves them to the other chart'],
    [RENDER, 'is far smaller than what a release Secret may hold'],
    [KEPT_CRDS, 'stay with their resources when it goes, and come under the next one'],
    [KEPT_CRDS, 'can be those of kubectl, or of the chart that has only them'],
  ),
  line('G49', 'values by schema and in a reference', [
    RENDER,
    'are all in the reference, with their defaults',
  ]),
  line(
    'G50',
    'restricted pods',
    [PODS, 'are restricted: not root, a high UID, a read-only root, no capability'],
    [SERVER, 'makes pods that a restricted namespace takes'],
  ),
  line('G51', 'requests, limits, heap', [PODS, 'have requests and limits, ephemeral storage among them']),
  line(
    'G52',
    'two replicas, one leads',
    [PODS, 'are two, spread softly, of which one stays'],
    ['test/kube/elector.test.ts', 'lets one of two lead'],
  ),
  line(
    'G53',
    'liveness is not readiness',
    [PODS, 'are asked different questions for liveness and readiness'],
    ['src/kube/observe/health.test.ts', 'names the watch that gave no sign of life for too long'],
  ),
  {
    ...line(
      'G54',
      'NetworkPolicy',
      [RENDER, 'let metrics in, and out only DNS, the API server and the service'],
      [RENDER, 'let out to a collector of traces, and to the proxies of both schemes'],
    ),
    note: 'As rendered: enforcing needs a node with a network.',
  },
  line(
    'G55',
    'monitoring, off by default; metrics over TLS with authn and authz, no sidecar',
    [RENDER, 'have no monitor, rule or dashboard until asked for'],
    ['test/chart/monitoring.test.ts', 'names metrics that there are'],
    [
      'test/chart/metrics.test.ts',
      'are secure by default, and health has a port of its own that needs no token',
    ],
    [
      'test/kube/metrics.test.ts',
      'are given over https to a ServiceAccount that may get /metrics, by its own token',
    ],
    ['test/kube/metrics.test.ts', 'are refused with 403 to one that may not'],
    [
      'test/kube/metrics.test.ts',
      'are refused with 401 without a token, with garbage, and with a token that was changed',
    ],
    ['test/kube/metrics.test.ts', 'show a certificate that was exchanged, without a restart'],
    ['test/chart/monitoring.test.ts', 'say what happened, where the runbook is'],
    ['scripts/chart/alerts.test.ts', 'fires in one case for promtool and is silent in another'],
  ),
  line(
    'G56',
    'scoped mode has no ClusterRole',
    [ROLES, 'in scoped mode are Roles in the listed namespaces and nothing in the cluster'],
    ['test/chart/rights.test.ts', 'uses every verb that it is granted'],
    ['test/chart/rights.test.ts', 'is denied nothing'],
  ),
  line(
    'G57',
    'roles for people, without Secrets',
    [ROLES, 'of people are added to view, edit and admin, without Secrets'],
    [SERVER, 'lets people with view look at the kinds and people with edit change them'],
  ),
  line(
    'G58',
    'image by digest, any UID',
    [PODS, 'run the image by digest where one is given'],
    [PODS, 'leave the UID to OpenShift where it is told to'],
  ),
  {
    ...line(
      'G59',
      'OCI artifacts with signature, provenance, SBOM',
      ['scripts/workflows.test.ts', 'a release is refused while an action is not pinned'],
      ['scripts/image.test.ts', 'builds from pinned images only, with SBOM and provenance'],
    ),
    note: 'The workflow is written and checked as text; it has not run anywhere.',
  },
  line('G60', 'Artifact Hub', [
    RENDER,
    'tells Artifact Hub its kinds, their examples, its licence and its image',
  ]),
  line(
    'G61',
    'notes and helm test',
    [RENDER, 'print what to do next, and no secret'],
    [INSTALL, 'installs until ready, is tested, upgrades'],
  ),
  line('G62', 'what can be added', [
    PODS,
    'take what is added: volumes, labels, tolerations, hosts, objects',
  ]),
  line(
    'G63',
    'leaving loses and hangs nothing',
    [LEAVING, 'keeps the kinds and what is left, and lets go of it by the command of the guide'],
    [GUIDE, 'installs by Helm, changes a value and keeps the others, and leaves without a trace'],
    [GUIDE, 'installs by kustomize, and leaves without a trace'],
    [LIFECYCLE, 'ends with everything in it when it is deleted'],
    ['test/e2e/scoped.test.ts', 'ends when its resources were deleted before it'],
    [INSTALL, 'rolls back and goes, without a write that nobody asked for'],
  ),
  {
    ...line(
      'G64',
      'upgrade and rollback write nothing outside',
      [UPGRADE, 'sends nothing when the present definitions come, and then does what they allow'],
      [UPGRADE, 'lets the %s version end what the other has begun, after a %s'],
      [UPGRADE, 'has one leader at a time while the %s version is rolled out beside the other'],
      [INSTALL, 'without a write that nobody asked for'],
      [KEPT_CRDS, 'is upgraded by Helm 4, its kinds too, and rolled back'],
    ),
    note: 'From and to a commit of before, since there is no release yet; by Helm 3 and 4 between two sets of values and definitions of one version.',
  },
].map(explained);

function line(id: string, says: string, ...tests: Shown[]): ChecklistLine {
  return { id, says, tests };
}

/** Lines that have no test say why. */
function explained(one: ChecklistLine): ChecklistLine {
  const reasons: Readonly<Record<string, string>> = {
    G19: 'No kind has a number of replicas: an instance’s machines are set by its policy box.',
    G36: 'Needs a running Argo CD. That each kind is Progressing until it is up is G32; what the waves do is in the guide.',
  };
  const note = one.note ?? reasons[one.id];
  return note === undefined ? one : { ...one, note };
}
