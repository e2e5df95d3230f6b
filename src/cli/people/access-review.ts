import type { KubeObject, ResourceType } from '../../kube/index.ts';
import type { Cluster } from './cluster.ts';

const REVIEWS: ResourceType = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'subjectaccessreviews',
  kind: 'SubjectAccessReview',
  namespaced: false,
};

interface Review extends KubeObject {
  status?: { allowed?: boolean };
}

/** Something that a service account may do or not. */
export interface Access {
  group: string;
  resource: string;
  subresource: string | undefined;
  verb: string;
  /** Undefined: in every namespace, or of the cluster. */
  namespace: string | undefined;
  name?: string | undefined;
}

/**
 * Whether a service account may do something, by the API server's own word.
 * @throws KubeApiError with 403 where the person may not ask
 */
export async function mayDo(
  { kube }: Cluster,
  account: { namespace: string; name: string },
  { group, resource, subresource, verb, namespace, name }: Access,
  signal: AbortSignal,
): Promise<boolean> {
  const { namespace: home } = account;
  const review = await kube.create<Review>(
    REVIEWS,
    {
      metadata: {},
      spec: {
        user: `system:serviceaccount:${home}:${account.name}`,
        groups: ['system:serviceaccounts', `system:serviceaccounts:${home}`, 'system:authenticated'],
        resourceAttributes: {
          group,
          resource,
          ...(subresource === undefined ? {} : { subresource }),
          verb,
          ...(namespace === undefined ? {} : { namespace }),
          ...(name === undefined ? {} : { name }),
        },
      },
    },
    { signal },
  );
  return review.status?.allowed === true;
}
