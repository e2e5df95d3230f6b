import { LEADER_LEASE, RIGHTS, type Right } from '../../../controllers/rights.ts';
import { KubeApiError, type KubeObject, type ResourceType } from '../../../kube/index.ts';
import { refusalOf, type Cluster } from '../cluster.ts';
import type { OperatorFacts } from '../operator-facts.ts';
import { checkOf, unknown, type Check, type Complaint } from './check.ts';
import type { Pod } from './pods.ts';

const REVIEWS: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};
/** Questions at a time. */
const AT_ONCE = 8;
/** Of many namespaces the first are asked about. */
const NAMESPACES = 5;
const TITLE = 'Rights of the operator';

interface Review extends KubeObject {
  status?: { allowed?: boolean };
}

interface Question {
  right: Right;
  verb: string;
  namespace: string | undefined;
  resourceName: string | undefined;
}

/** Whether the operator may do all that it does, by the API server's own word. */
export async function checkRights(
  { kube }: Cluster,
  operator: OperatorFacts,
  pods: readonly Pod[] | { gap: string },
  signal: AbortSignal,
): Promise<Check> {
  const id = 'rights';
  const account =
    'gap' in pods ? undefined : pods.find(({ metadata }) => isHolder(operator, metadata.name))?.spec;
  if (account === undefined)
    return unknown(
      id,
      TITLE,
      'The leader is no pod that your user may see: its service account is not known.',
    );
  const { serviceAccountName = 'default' } = account;
  const questions = questionsAbout(operator);
  const denied: Question[] = [];
  try {
    for (let at = 0; at < questions.length; at += AT_ONCE) {
      const some = questions.slice(at, at + AT_ONCE);
      const allowed = await Promise.all(some.map((each) => ask(each)));
      denied.push(...some.filter((_, index) => allowed[index] !== true));
    }
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.status !== 403) throw error;
    return unknown(id, TITLE, refusalOf(error));
  }
  const complaints = denied.map(({ right, verb, namespace }): Complaint => ({
    state: 'Wrong',
    text: `It may not ${verb} ${right.resource}${namespace === undefined ? '' : ` in namespace ${namespace}`}: it ${right.why}.`,
    nextStep:
      'Upgrade the chart with the CRDs of its version, or apply the roles of docs/reference/rights.md.',
  }));
  return checkOf(
    id,
    TITLE,
    complaints,
    `Service account ${serviceAccountName} has all of ${questions.length}.`,
  );

  async function ask({ right, verb, namespace, resourceName }: Question): Promise<boolean> {
    const [resource, subresource] = right.resource.split('/');
    const { namespace: home } = operator;
    const review = await kube.create<Review>(
      REVIEWS,
      {
        metadata: {},
        spec: {
          user: `system:serviceaccount:${home}:${serviceAccountName}`,
          groups: ['system:serviceaccounts', `system:serviceaccounts:${home}`, 'system:authenticated'],
          resourceAttributes: {
            group: right.apiGroup,
            resource,
            ...(subresource === undefined ? {} : { subresource }),
            verb,
            ...(namespace === undefined ? {} : { namespace }),
            ...(resourceName === undefined ? {} : { name: resourceName }),
          },
        },
      },
      { signal },
    );
    return review.status?.allowed === true;
  }
}

/** What every installation needs: switches of the chart decide about the rest. */
function questionsAbout({ namespace: home, namespaces, lease }: OperatorFacts): Question[] {
  const watched = namespaces === undefined ? [undefined] : namespaces.slice(0, NAMESPACES);
  return RIGHTS.filter(({ when }) => when === undefined).flatMap((right) =>
    (right.scope === 'watched' ? watched : [right.scope === 'own' ? home : undefined]).flatMap((namespace) =>
      right.verbs.map((verb) => ({ right, verb, namespace, resourceName: nameIn(right, lease) })),
    ),
  );
}

function nameIn({ resourceNames: [name] = [] }: Right, lease: string): string | undefined {
  return name === LEADER_LEASE ? lease : name;
}

/** The holder of a Lease is the pod, with a random part where there may be two of a name. */
function isHolder({ holder }: OperatorFacts, pod: string): boolean {
  return holder === pod || holder?.startsWith(`${pod}_`) === true;
}
