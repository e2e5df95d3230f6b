import { stringify } from 'yaml';

/** The rights of one operator, as the chart renders them for it. */
export interface ChartRights {
  /** Name of the ServiceAccount. */
  account: string;
  objects: readonly RbacObject[];
}

/** A ServiceAccount, a role or a binding, as far as it is read here. */
export interface RbacObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: readonly RbacRule[];
  roleRef?: { kind: string; name: string };
  subjects?: readonly { kind: string; name: string; namespace?: string }[];
}

interface RbacRule {
  /** Absent, as the resources, in a rule about paths. */
  apiGroups?: readonly string[];
  resources?: readonly string[];
  resourceNames?: readonly string[];
  verbs: readonly string[];
}

/** One verb on one resource, as one role grants it. */
export interface Grant {
  /** Whether the role is for the operator's own namespace or for those that it looks after. */
  scope: 'own' | 'watched';
  /** Where it holds; absent: in the whole cluster. */
  namespace?: string;
  apiGroup: string;
  /** With its subresource: `boxes/status`. */
  resource: string;
  verb: string;
  /** The only object that it holds for. */
  name?: string;
}

/** What of a chart's objects gives rights to the ServiceAccount of the operator: itself, its bindings, their roles. */
export function rightsAmong(objects: readonly RbacObject[], home: string): ChartRights {
  const [account, ...others] = objects.filter(({ kind }) => kind === 'ServiceAccount');
  if (account === undefined || others.length > 0) throw new Error('the chart has not one ServiceAccount');
  const { name } = account.metadata;
  const bindings = objects.filter(({ subjects = [] }) =>
    subjects.some((subject) => subject.name === name && subject.namespace === home),
  );
  const roles = objects.filter((object) => bindings.some((binding) => refersTo(binding, object)));
  return { account: name, objects: [account, ...roles, ...bindings] };
}

/** Everything that is granted, a verb on a resource each. */
export function grantsOf({ objects }: ChartRights, home: string): Grant[] {
  return objects.flatMap(({ kind, metadata: { namespace }, rules = [] }) =>
    rules.flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
      apiGroups.flatMap((apiGroup) =>
        resources.flatMap((resource) =>
          verbs.flatMap((verb) =>
            (resourceNames ?? [undefined]).map((name) => ({
              scope: namespace === home ? ('own' as const) : ('watched' as const),
              ...(kind === 'ClusterRole' || namespace === undefined ? {} : { namespace }),
              apiGroup,
              resource,
              verb,
              ...(name === undefined ? {} : { name }),
            })),
          ),
        ),
      ),
    ),
  );
}

/** `scope resource.group verb [name]`: the same for every operator with the same rights. */
export function textOf({ scope, apiGroup, resource, verb, name }: Grant): string {
  const [kind = '', subresource] = resource.split('/');
  const of = apiGroup === '' ? kind : `${kind}.${apiGroup}`;
  const full = subresource === undefined ? of : `${of}/${subresource}`;
  return [scope, full, verb, ...(name === undefined ? [] : [name])].join(' ');
}

export function manifestOf({ objects }: ChartRights): string {
  return objects.map((object) => stringify(object)).join('---\n');
}

function refersTo({ roleRef, metadata }: RbacObject, role: RbacObject): boolean {
  return (
    roleRef?.kind === role.kind &&
    roleRef.name === role.metadata.name &&
    (role.kind === 'ClusterRole' || role.metadata.namespace === metadata.namespace)
  );
}
