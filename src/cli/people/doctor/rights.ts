import { LEADER_LEASE, RIGHTS, type Right } from '../../../controllers/rights.ts';
import { KubeApiError } from '../../../kube/index.ts';
import { refusalOf, type Cluster } from '../cluster.ts';
import { mayDo } from '../access-review.ts';
import type { OperatorFacts } from '../operator-facts.ts';
import { isHolder, type Pod } from '../pods.ts';
import { checkOf, unknown, type Check, type Complaint } from './check.ts';

/** Questions at a time. */
const AT_ONCE = 8;
/** Of many namespaces the first are asked about. */
const NAMESPACES = 5;
const TITLE = 'Rights of the operator';

interface Question {
  right: Right;
  verb: string;
  namespace: string | undefined;
  resourceName: string | undefined;
}

/** Whether the operator may do all that it does, by the API server's own word. */
export async function checkRights(
  cluster: Cluster,
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

  function ask({ right, verb, namespace, resourceName }: Question): Promise<boolean> {
    const [resource = '', subresource] = right.resource.split('/');
    const asked = { group: right.apiGroup, resource, subresource, verb, namespace, name: resourceName };
    return mayDo(cluster, { namespace: operator.namespace, name: serviceAccountName }, asked, signal);
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
