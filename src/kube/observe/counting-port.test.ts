import { describe, expect, it } from 'vitest';
import { answer, refusal, ScriptedPort } from '../../../test/support/scripted-port.ts';
import { countingPort } from './counting-port.ts';
import { Metrics } from './metrics.ts';
import { KubeTransportError } from '../port.ts';

function line(code: string, method: string): string {
  return `rest_client_requests_total{code="${code}",method="${method}",host="10.0.0.1:443"}`;
}

describe('countingPort', () => {
  it('counts calls by code, verb and host, watches and lost answers included', async () => {
    const metrics = new Metrics();
    const scripted = new ScriptedPort();
    const port = countingPort(scripted, metrics, '10.0.0.1:443');
    scripted.onRequest = ({ method }) => {
      if (method === 'DELETE') throw new KubeTransportError('reset', { maybeSent: true });
      return method === 'GET' ? answer(200, {}) : refusal(409, 'Conflict');
    };
    await port.request({ method: 'GET', path: '/api/v1/pods' });
    await port.watch({ method: 'GET', path: '/api/v1/pods' });
    await port.request({ method: 'PATCH', path: '/api/v1/pods/a' });
    await expect(port.request({ method: 'DELETE', path: '/api/v1/pods/a' })).rejects.toThrow('reset');
    const text = await metrics.render();
    expect(text).toContain(`${line('200', 'GET')} 2`);
    expect(text).toContain(`${line('409', 'PATCH')} 1`);
    expect(text).toContain(`${line('<error>', 'DELETE')} 1`);
  });
});
