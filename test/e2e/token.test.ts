import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { installKinds } from '../api/install.ts';
import { testCluster } from '../support/cluster.ts';
import { json, loopbackServer, type LoopbackServer } from '../support/loopback-server.ts';
import { exampleText, RealWorld, TOKEN } from '../support/real-world.ts';

beforeAll(async () => {
  await installKinds(testCluster());
});

/** Everything that calls to the service have brought: line, headers as they came, body. */
class Record {
  readonly texts: string[] = [];
  readonly headers = new Set<string>();
  readonly methods = new Set<string>();

  take({ method = '', url = '', rawHeaders }: IncomingMessage, body: string): void {
    this.methods.add(method);
    for (const [at, text] of rawHeaders.entries()) if (at % 2 === 0) this.headers.add(text.toLowerCase());
    this.texts.push([`${method} ${url}`, ...rawHeaders, body].join('\n'));
  }

  /** What in the record holds the token or a part by which it could be used or made up again. */
  holding(token: string): string[] {
    const [, claims = '', signature = ''] = token.split('.');
    const secrets = [claims, signature].flatMap((part) => [part, Buffer.from(part).toString('base64')]);
    return this.texts.filter((text) => secrets.some((secret) => text.includes(secret)));
  }
}

/** Passes calls on to the embedded service. */
async function forward(
  to: string,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): Promise<void> {
  const { method = 'GET', url = '', headers } = request;
  const sent = Object.entries(headers).filter(
    ([name]) => !['host', 'connection', 'content-length', 'transfer-encoding', 'expect'].includes(name),
  );
  const answer = await fetch(`${to}${url}`, {
    method,
    headers: sent.map(([name, value]) => [name, String(value)] as [string, string]),
    ...(body === '' ? {} : { body }),
  });
  const type = answer.headers.get('content-type');
  response.writeHead(answer.status, type === null ? {} : { 'content-type': type });
  response.end(Buffer.from(await answer.arrayBuffer()));
}

describe('the ServiceAccount’s token', () => {
  it('goes to the API server only: no call to a service has it in a header, its line or its body', async () => {
    const record = new Record();
    await using world = await RealWorld.start();
    const { token, user } = await world.identity();
    await using service = await loopbackServer((request, response, body) => {
      record.take(request, body);
      void forward(world.url, request, response, body);
    });
    await using elsewhere = await recording(record, (_, response) => json(response, 200, []));
    // Those that would like to have one: by a challenge, and by a redirect to another host.
    await using asking = await recording(record, (_, response) =>
      json(response, 401, { message: 'who?' }, { 'www-authenticate': 'Bearer realm="cluster"' }),
    );
    await using sending = await recording(record, (request, response) =>
      json(response, 307, {}, { location: `${elsewhere.url}${request.url}` }),
    );

    await world.put(world.connection(TOKEN, service.url));
    await world.put(exampleText());
    for (const [name, { url }] of Object.entries({ asking, sending })) {
      await world.put(world.connection(TOKEN, url).replace('{name: main}', `{name: ${name}}`));
    }
    await world.ready('Instance', 'web-eu', 60_000);
    for (const name of ['asking', 'sending']) await world.condition('Connection', name, { status: 'False' });
    await world.delete('InstanceLease', 'evening');
    await world.delete('Instance', 'web-eu');
    await world.gone('Instance', 'web-eu', 60_000);

    expect([...record.methods].toSorted()).toEqual(['DELETE', 'GET', 'POST', 'PUT']);
    expect([asking, sending].every(({ requests }) => requests.length > 0)).toBe(true);
    expect(record.holding(token)).toEqual([]);
    expect(record.headers).not.toContain('authorization');
    expect([...record.headers].toSorted()).toEqual(HEADERS);
    // The search would find it, and the API server has been shown it.
    record.texts.push(`GET / authorization Bearer ${token}`);
    expect(record.holding(token)).toHaveLength(1);
    expect(world.cluster.auditLog().some((event) => event.user.username === user)).toBe(true);
  }, 180_000);
});

/** Every header that a service is sent. */
const HEADERS = [
  'accept',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'service-release',
  'service-token',
  'user-agent',
];

function recording(
  record: Record,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<LoopbackServer> {
  return loopbackServer((request, response, body) => {
    record.take(request, body);
    handler(request, response);
  });
}
