import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/devcluster/index.ts';
import { Comparison, unusedOf, type Tally } from './comparison.ts';
import { grantsOf, rightsAmong, type RbacObject } from './grants.ts';

const USER = 'system:serviceaccount:home:operator';
const SUBJECTS = [{ kind: 'ServiceAccount', name: 'operator', namespace: 'home' }];
const GET_SECRETS = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };

function object(kind: string, name: string, namespace: string | undefined, more: object = {}): RbacObject {
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    ...more,
  };
}

/** Gets its key at home and Secrets everywhere. */
const OBJECTS = [
  object('ServiceAccount', 'operator', 'home'),
  object('Role', 'own', 'home', { rules: [{ ...GET_SECRETS, resourceNames: ['key'] }] }),
  object('RoleBinding', 'own', 'home', { roleRef: { kind: 'Role', name: 'own' }, subjects: SUBJECTS }),
  object('ClusterRole', 'watched', undefined, { rules: [GET_SECRETS] }),
  object('ClusterRoleBinding', 'watched', undefined, {
    roleRef: { kind: 'ClusterRole', name: 'watched' },
    subjects: SUBJECTS,
  }),
  // For people.
  object('ClusterRole', 'view', undefined, { rules: [{ ...GET_SECRETS, verbs: ['list'] }] }),
  object('Deployment', 'operator', 'home'),
];

interface Request {
  verb?: string;
  user?: string;
  at?: number;
  code?: number;
  decision?: string;
  ref?: AuditEvent['objectRef'];
}

function request({
  verb = 'get',
  user = USER,
  at = 0,
  code = 200,
  decision = 'allow',
  ref,
}: Request): AuditEvent {
  const stamp = `2026-01-01T00:00:0${at}.000000Z`;
  return {
    auditID: 'a',
    verb,
    requestURI: `/api/v1/namespaces/${ref?.namespace}/${ref?.resource}/${ref?.name}`,
    user: { username: user },
    objectRef: { resource: 'secrets', ...ref },
    responseStatus: { code },
    requestReceivedTimestamp: stamp,
    stageTimestamp: stamp,
    annotations: { 'authorization.k8s.io/decision': decision },
  };
}

function compare(...requests: Request[]): Tally {
  const rights = rightsAmong(OBJECTS, 'home');
  const comparison = new Comparison([
    {
      user: USER,
      mode: 'cluster-wide',
      grants: grantsOf(rights, 'home'),
      roles: { namespaces: ['home'], clusterWide: ['watched'] },
    },
  ]);
  for (const each of requests) comparison.add(request(each));
  const tally = comparison.result().get('cluster-wide');
  if (tally === undefined) throw new Error('the mode is missing');
  return tally;
}

const KEY = { namespace: 'home', name: 'key' };
const LOGIN = { namespace: 'shop', name: 'login' };
const REFUSED = { code: 403, decision: 'forbid', ref: { ...LOGIN, resource: 'pods' } };

describe('the comparison of an audit log with what a chart grants', () => {
  it('knows the rights of the ServiceAccount and nobody else’s', () => {
    expect(compare().granted).toEqual(['own secrets get key', 'watched secrets get']);
    expect(unusedOf(compare())).toEqual(['own secrets get key', 'watched secrets get']);
  });

  it('counts for a request the narrowest grant alone, and only requests of the account', () => {
    expect(unusedOf(compare({ ref: KEY }))).toEqual(['watched secrets get']);
    expect(unusedOf(compare({ ref: LOGIN }))).toEqual(['own secrets get key']);
    expect(compare({ ref: LOGIN, user: 'somebody' })).toMatchObject({ requests: 0, used: [] });
  });

  it('tells what RBAC refused, not what admission did', () => {
    const { denied, used } = compare(REFUSED, REFUSED, { code: 403, ref: LOGIN });
    expect(denied).toEqual([`${USER}: get /api/v1/namespaces/shop/pods/login`]);
    expect(used).toEqual(['watched secrets get']);
  });

  it('counts no refusal from when somebody has taken the rights away', () => {
    const removal = { verb: 'delete', user: 'admin', at: 5, ref: { apiGroup: 'rbac.authorization.k8s.io' } };
    const ofRole = { ...removal, ref: { ...removal.ref, resource: 'rolebindings', namespace: 'home' } };
    const ofOthers = { ...ofRole, ref: { ...ofRole.ref, namespace: 'shop' } };
    const ofClusterRole = { ...removal, ref: { ...removal.ref, resource: 'clusterroles', name: 'watched' } };
    const late = { ...REFUSED, at: 6 };
    expect(compare(late, ofRole).denied).toEqual([]);
    expect(compare(ofClusterRole, late).denied).toEqual([]);
    expect(compare(ofOthers, late).denied).toHaveLength(1);
    expect(compare({ ...REFUSED, at: 4 }, ofRole).denied).toHaveLength(1);
  });
});
