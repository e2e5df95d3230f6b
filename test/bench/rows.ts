/** What one run of the bench has measured. */
export interface Measured {
  instances: number;
  /** From the first apply to the last Ready, seconds. */
  seconds: number;
  /** Records made per second, from the first apply to the last record. */
  creationsPerSecond: number;
  /** Calls to the service per instance, from the first apply to the last Ready. */
  serviceCalls: number;
  /** Writes to the API server per instance, Events and the leader lease aside. */
  kubernetesWrites: number;
  /** From the answer to an apply to the arrival of its POST at the service, milliseconds. */
  applyToPostMs: { p50: number; p95: number; p99: number };
  /** Of the operator's process, MiB. */
  rssMiB: number;
  /** Of the operator's process, seconds. */
  cpuSeconds: number;
}

/** The value below which `share` of the values lie; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The measured values as a table for people. */
export function tableOf(measured: Measured): string {
  const { p50, p95, p99 } = measured.applyToPostMs;
  const rows: [string, string][] = [
    ['instances', String(measured.instances)],
    ['first apply to last Ready', `${measured.seconds.toFixed(1)} s`],
    ['creations per second', measured.creationsPerSecond.toFixed(1)],
    ['service calls per creation', measured.serviceCalls.toFixed(2)],
    ['Kubernetes writes per creation', measured.kubernetesWrites.toFixed(2)],
    ['apply to POST, p50 / p95 / p99', `${p50.toFixed(0)} / ${p95.toFixed(0)} / ${p99.toFixed(0)} ms`],
    ['RSS of the operator at the end', `${measured.rssMiB.toFixed(0)} MiB`],
    ['CPU time of the operator', `${measured.cpuSeconds.toFixed(1)} s`],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value.padStart(18)}`).join('\n');
}
