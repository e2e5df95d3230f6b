import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_FLAGS } from '../../src/cli/operator/flags.ts';
import { testCluster } from '../support/cluster.ts';
import { EVERYTHING, Helm, objectsOf, only, podSpecOf, type PodSpec, type Rendered } from './chart.ts';

let helm: Helm;
beforeAll(() => {
  helm = new Helm(testCluster());
});

describe('the pods of the chart', () => {
  let objects: Rendered[];
  let pod: PodSpec;
  beforeAll(async () => {
    objects = await helm.objects();
    pod = podSpecOf(only(objects, 'Deployment'));
  });

  it('are restricted: not root, a high UID, a read-only root, no capability', async () => {
    const everyPod = objectsOf(await helm.text({ crds: { enabled: false } })).flatMap((object) =>
      object.kind === 'Pod' ? [object.spec as PodSpec] : [],
    );
    expect(everyPod).toHaveLength(1);
    for (const { securityContext, containers } of [pod, ...everyPod]) {
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(securityContext['runAsUser']).toBeGreaterThan(10_000);
      for (const container of containers) {
        expect(container.securityContext).toMatchObject({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('leave the UID to OpenShift where it is told to', async () => {
    const securityContext = { runAsUser: null, runAsGroup: null, fsGroup: null };
    const told = await helm.objects({ podSecurityContext: securityContext });
    expect(podSpecOf(only(told, 'Deployment')).securityContext).toEqual({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('have requests and limits, ephemeral storage among them', () => {
    const { requests, limits } = pod.containers[0]?.resources ?? {};
    expect(Object.keys(requests ?? {}).toSorted()).toEqual(['cpu', 'ephemeral-storage', 'memory']);
    expect(Object.keys(limits ?? {}).toSorted()).toEqual(['ephemeral-storage', 'memory']);
  });

  it.each([
    ['512Mi', 384],
    ['1Gi', 768],
    ['1.5Gi', 1152],
    ['1G', 715],
    ['536870912', 384],
  ])('with a memory limit of %s have a heap of %i MiB', async (memory, heap) => {
    const told = podSpecOf(only(await helm.objects({ resources: { limits: { memory } } }), 'Deployment'));
    expect(envOf(told)['NODE_OPTIONS']).toBe(`--max-old-space-size=${heap}`);
  });

  it('are two, spread softly, of which one stays', async () => {
    expect(only(objects, 'Deployment').spec).toMatchObject({ replicas: 2 });
    expect(only(objects, 'PodDisruptionBudget').spec).toMatchObject({ minAvailable: 1 });
    expect(pod).toMatchObject({
      affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100 }] } },
      topologySpreadConstraints: [{ whenUnsatisfiable: 'ScheduleAnyway' }, {}],
    });
    const alone = await helm.objects({ replicas: 1, priorityClassName: 'system-cluster-critical' });
    expect(alone.some(({ kind }) => kind === 'PodDisruptionBudget')).toBe(false);
    expect(podSpecOf(only(alone, 'Deployment'))).toMatchObject({
      priorityClassName: 'system-cluster-critical',
    });
  });

  it('are asked different questions for liveness and readiness', () => {
    expect(pod.containers[0]).toMatchObject({
      livenessProbe: { httpGet: { path: '/healthz' } },
      readinessProbe: { httpGet: { path: '/readyz' } },
    });
  });

  it('are told by variables that the operator knows', async () => {
    const everything = podSpecOf(
      only(
        await helm.objects({
          ...EVERYTHING,
          namespaces: ['shop'],
          installationId: 'abc',
          restore: true,
          allowInsecure: true,
          allowLoopback: true,
        }),
        'Deployment',
      ),
    );
    const known = new Set<string>(Object.values(OPERATOR_FLAGS).map(({ env }) => env));
    const set = Object.keys(envOf(everything)).filter((name) => name.startsWith('BOXWRIGHT_'));
    expect(set.length).toBeGreaterThan(10);
    expect(set.filter((name) => !known.has(name))).toEqual([]);
    expect(envOf(everything)).toMatchObject({
      BOXWRIGHT_ALLOWED_HOSTS: 'deploy.example.com,*.example.org:8443',
      BOXWRIGHT_NAMESPACES: 'shop',
      BOXWRIGHT_RESTORE: 'true',
      BOXWRIGHT_SECRET_SELECTOR: 'boxwright.dev/use=true',
      HTTPS_PROXY: 'http://proxy.example.com:3128',
      EXTRA: 'one',
    });
  });

  it('run the image by digest where one is given', async () => {
    const told = podSpecOf(only(await helm.objects(EVERYTHING), 'Deployment'));
    expect(told.containers[0]?.image).toBe(`ghcr.io/boxwright/boxwright@${EVERYTHING.image.digest}`);
    expect(told).toMatchObject({ imagePullSecrets: [{ name: 'registry' }] });
  });

  it('take what is added: volumes, labels, tolerations, hosts, objects', async () => {
    const told = await helm.objects(EVERYTHING);
    const deployment = only(told, 'Deployment');
    expect(podSpecOf(deployment)).toMatchObject({
      volumes: EVERYTHING.extraVolumes,
      tolerations: EVERYTHING.tolerations,
      hostAliases: EVERYTHING.hostAliases,
      containers: [{ volumeMounts: EVERYTHING.extraVolumeMounts, envFrom: EVERYTHING.extraEnvFrom }],
    });
    expect(deployment.spec).toMatchObject({
      template: { metadata: { labels: { tier: 'control', team: 'platform' }, annotations: { note: 'pod' } } },
    });
    expect(told.map(({ metadata }) => metadata.name)).toContain('extra-boxwright');
    for (const { metadata } of told.filter((object) => !object.metadata.name.startsWith('extra-'))) {
      expect(metadata.labels).toMatchObject({ team: 'platform' });
      expect(metadata.annotations).toMatchObject({ owner: 'platform' });
    }
  });
});

function envOf(pod: PodSpec): Record<string, string | undefined> {
  return Object.fromEntries((pod.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
}
