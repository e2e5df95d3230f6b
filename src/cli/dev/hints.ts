import type { DevCluster } from './cluster.ts';
import type { Manifest } from './manifests.ts';

/** What to try next, as lines to copy. */
export function nextCommands(cluster: DevCluster, manifests: readonly Manifest[]): string[] {
  const { kubectl, shell } = cluster;
  const instance = manifests.find(({ kind }) => kind === 'Instance')?.metadata.name;
  const lease = manifests.find(({ kind }) => kind === 'InstanceLease')?.metadata.name;
  const commands = [...shell, `${kubectl} get boxwright`, `${kubectl} get events`];
  if (instance !== undefined) {
    commands.push(
      `${kubectl} describe instance ${instance}`,
      `${kubectl} patch instance ${instance} --type merge -p '{"spec": {"powerState": "Stopped"}}'`,
      `${kubectl} get instance ${instance} --watch`,
    );
  }
  if (lease !== undefined) {
    commands.push(`${kubectl} annotate instancelease ${lease} --overwrite boxwright.dev/renew="$(date)"`);
  }
  if (instance !== undefined) commands.push(`${kubectl} delete instance ${instance}`);
  return ['Try, in another terminal:', ...commands.map((command) => `  ${command}`)];
}
