import { ConnectionLost, type Sandbox } from '../../src/sandbox/index.ts';
import { ServiceTransportError, type PortRequest, type ServicePort } from '../../src/service/index.ts';

/** The embedded service behind the service port, in process: no sockets, so it runs on a virtual clock. */
export function sandboxPort(sandbox: Pick<Sandbox, 'handle'>): ServicePort {
  return {
    async send(request: PortRequest) {
      request.signal?.throwIfAborted();
      const { body = new Uint8Array(), signal } = request;
      const answer = sandbox.handle({
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: typeof body === 'string' ? Buffer.from(body) : body,
        ...(signal === undefined ? {} : { signal }),
      });
      try {
        return await (signal === undefined ? answer : raced(answer, signal));
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error;
        throw new ServiceTransportError('Broken', 'the connection broke', { maybeSent: true });
      }
    },
  };
}

function raced<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    answer.then(resolve, reject);
  });
}
