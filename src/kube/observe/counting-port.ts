import type { Metrics } from './metrics.ts';
import type { KubeAnswer, KubePort, KubeRequest, KubeWatch } from '../port.ts';

/** The label of a call without an answer, as client-go has it. */
const NO_ANSWER = '<error>';

/** A port that counts each call in `rest_client_requests_total` under `host`. */
export function countingPort(port: KubePort, metrics: Metrics, host: string): KubePort {
  async function counted<T extends { status: number }>(method: string, call: Promise<T>): Promise<T> {
    try {
      const answer = await call;
      metrics.restRequests.inc({ code: String(answer.status), method, host });
      return answer;
    } catch (error) {
      metrics.restRequests.inc({ code: NO_ANSWER, method, host });
      throw error;
    }
  }
  return {
    request: (request: KubeRequest): Promise<KubeAnswer> => counted(request.method, port.request(request)),
    watch: (request: KubeRequest): Promise<KubeWatch> => counted(request.method, port.watch(request)),
  };
}
