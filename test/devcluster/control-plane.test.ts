import { describe, expect, it } from 'vitest';
import { isWrite } from '../../src/devcluster/index.ts';
import { testCluster } from '../support/cluster.ts';
import { eventually } from '../support/eventually.ts';

const cluster = testCluster();

describe('the control plane', () => {
  it('answers kubectl with the version that go.mod pins', async () => {
    const { stdout, stderr } = await cluster.kubectl(['version', '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ serverVersion: { gitVersion: 'v1.36.3' } });
    expect(stderr).toBe('');
  });

  it('ends a namespace together with what is in it', async () => {
    await using namespace = await cluster.namespace('ends');
    await cluster.kubectl(['create', 'configmap', 'content', '-n', namespace.name]);
    const deleted = await cluster.kubectl(['delete', 'namespace', namespace.name, '--timeout=50s']);
    expect(deleted).toMatchObject({ code: 0 });
    const gone = await cluster.kubectl(['get', 'namespace', namespace.name]);
    expect(gone.stderr).toContain('NotFound');
  });

  it('collects what a deleted owner owned', async () => {
    await using namespace = await cluster.namespace('owner');
    await cluster.apply(configMap('owner', ''), namespace.name);
    const owner = await cluster.get<{ metadata: { uid: string } }>(
      'configmap',
      'owner',
      '-n',
      namespace.name,
    );
    const reference = `ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: ${owner.metadata.uid}}]`;
    await cluster.apply(configMap('owned', reference), namespace.name);
    await cluster.kubectl(['delete', 'configmap', 'owner', '-n', namespace.name]);
    const look = await eventually('the owned ConfigMap is collected', async () => {
      const found = await cluster.kubectl(['get', 'configmap', 'owned', '-n', namespace.name]);
      return found.code !== 0 && found;
    });
    expect(look.stderr).toContain('NotFound');
  });

  it('gives service accounts tokens that the API server accepts', async () => {
    await using namespace = await cluster.namespace('token');
    const token = await eventually('a token for the default service account', async () => {
      const { code, stdout } = await cluster.kubectl(['create', 'token', 'default', '-n', namespace.name]);
      return code === 0 && stdout.trim();
    });
    const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } };
    const { stdout } = await cluster.kubectl(['create', '-o', 'json', '-f', '-'], {
      input: JSON.stringify(review),
    });
    expect(JSON.parse(stdout)).toMatchObject({
      status: { authenticated: true, user: { username: `system:serviceaccount:${namespace.name}:default` } },
    });
  });
});

describe('RBAC', () => {
  it('denies a user without a role, names the user, and lets the user in after a binding', async () => {
    await using namespace = await cluster.namespace('rbac');
    const env = { KUBECONFIG: cluster.kubeconfigFor('jane', ['developers']) };
    const list = () => cluster.kubectl(['get', 'secrets', '-n', namespace.name], { env });

    const denied = await list();
    expect(denied.code).toBe(1);
    expect(denied.stderr).toContain('User "jane" cannot list resource "secrets"');

    await cluster.kubectl([
      'create',
      'rolebinding',
      'developers',
      '--clusterrole=admin',
      '--group=developers',
      '-n',
      namespace.name,
    ]);
    await eventually('the binding takes effect', async () => (await list()).code === 0);
  });
});

describe('helm', () => {
  it('runs against the control plane', async () => {
    await using namespace = await cluster.namespace('helm');
    const { code, stdout } = await cluster.helm(['list', '-n', namespace.name, '-o', 'json']);
    expect({ code, releases: JSON.parse(stdout) as unknown }).toEqual({ code: 0, releases: [] });
  });
});

describe('the audit log', () => {
  it('counts the writes of one user', async () => {
    await using namespace = await cluster.namespace('audit');
    const env = { KUBECONFIG: cluster.kubeconfigFor('auditor', ['system:masters']) };
    await cluster.kubectl(['create', 'configmap', 'one', '-n', namespace.name], { env });
    await cluster.kubectl(['get', 'configmap', 'one', '-n', namespace.name], { env });
    const mine = cluster.auditLog().filter((event) => event.user.username === 'auditor');
    expect(mine.filter(isWrite)).toMatchObject([
      {
        verb: 'create',
        objectRef: { resource: 'configmaps', namespace: namespace.name },
        responseStatus: { code: 201 },
      },
    ]);
    expect(mine.some((event) => event.verb === 'get')).toBe(true);
  });
});

function configMap(name: string, metadata: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  ${metadata}\n`;
}
