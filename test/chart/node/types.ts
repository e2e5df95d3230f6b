import type { KubeObject, ResourceType } from '../../../src/kube/index.ts';

export const PODS: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** A Pod, as far as the small node reads it. */
export interface Pod extends KubeObject {
  spec: {
    serviceAccountName: string;
    restartPolicy?: 'Always' | 'Never';
    terminationGracePeriodSeconds?: number;
    securityContext?: { runAsUser?: number };
    containers: Container[];
  };
  status?: { phase?: string };
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { fieldRef?: { fieldPath: string } } }[];
  ports?: { name: string; containerPort: number }[];
  volumeMounts?: { name: string; mountPath: string }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
}

export interface Probe {
  httpGet: { path: string; port: string | number };
  periodSeconds?: number;
  timeoutSeconds?: number;
  failureThreshold?: number;
}
