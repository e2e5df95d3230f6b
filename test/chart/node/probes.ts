import type { Container, Probe } from './types.ts';

/** Asks a probe once: whether it answers with success. */
export async function ask(probe: Probe, container: Container, address: string): Promise<boolean> {
  const { path, port } = probe.httpGet;
  const number =
    typeof port === 'number' ? port : container.ports?.find(({ name }) => name === port)?.containerPort;
  try {
    const signal = AbortSignal.timeout((probe.timeoutSeconds ?? 1) * 1_000);
    const answer = await fetch(`http://${address}:${number}${path}`, { signal });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    // Refused, or too late: the probe has failed.
    return false;
  }
}
