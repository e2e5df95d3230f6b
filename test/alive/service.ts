import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { json, loopbackServer, type LoopbackServer } from '../support/loopback-server.ts';

/** What a hostile service does in place of what it should; true where it has answered. */
export type Malice = (call: { method: string; path: string }, response: ServerResponse) => boolean;

type Stored = Record<string, unknown> & { id: string };

/** A service with as much of the interface as the operator needs to come to its lists and records. */
export class HostileService implements AsyncDisposable {
  readonly #server: LoopbackServer;
  readonly #records = { boxes: new Map<string, Stored>(), instances: new Map<string, Stored>() };
  malice: Malice = () => false;

  private constructor(server: LoopbackServer) {
    this.#server = server;
    server.handler = (request, response, body) => {
      const { pathname } = new URL(request.url ?? '/', 'http://service');
      const call = { method: request.method ?? 'GET', path: pathname };
      if (!this.malice(call, response)) this.#answer(call, response, body);
    };
  }

  static async open(): Promise<HostileService> {
    return new HostileService(await loopbackServer(() => undefined));
  }

  get url(): string {
    return this.#server.url;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  #answer({ method, path }: { method: string; path: string }, response: ServerResponse, body: string): void {
    const [, , first = '', id = '', list = ''] = path.split('/');
    if (path === '/services/workspaces') return json(response, 200, [WORKSPACE]);
    if (first === 'workspaces' && list === '') return json(response, 200, WORKSPACE);
    if (first === 'blobs') return json(response, 200, { url: `/services/blobs/download/${newId()}/file` });
    const family = list === '' ? first : list;
    if (family !== 'boxes' && family !== 'instances') return json(response, 200, []);
    const records = this.#records[family];
    if (first === 'workspaces') return json(response, 200, [...records.values()]);
    if (id === '') return json(response, 200, this.#made(family, JSON.parse(body) as Stored));
    const record = records.get(id);
    if (record === undefined) return json(response, 404, { message: 'not found' });
    if (method === 'DELETE') {
      records.delete(id);
      response.writeHead(204).end();
      return undefined;
    }
    if (method === 'PUT' && list === '') Object.assign(record, JSON.parse(body), { id, updated: stamp() });
    return json(response, 200, record);
  }

  #made(family: 'boxes' | 'instances', body: Stored): Stored {
    const now = stamp();
    const record = {
      ...body,
      ...(family === 'instances'
        ? {
            schema: `${BASE}/instance`,
            state: 'done',
            operation: { event: 'deploy' },
            tags: body['instance_tags'],
          }
        : {}),
      id: newId(),
      owner: WORKSPACE.id,
      created: now,
      updated: now,
    };
    this.#records[family].set(record.id, record);
    return record;
  }
}

/** Sends a text many times over, no faster than it is taken. */
export function pour(
  response: ServerResponse,
  head: string,
  text: string,
  bytes: number,
  tail: string,
): true {
  const piece = Buffer.from(text.repeat(Math.ceil(65_536 / text.length)));
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      left -= piece.length;
      if (!response.write(piece)) {
        response.once('drain', more);
        return;
      }
    }
    response.end(tail);
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.write(head);
  more();
  return true;
}

const BASE = 'http://service.example/schemas';
const WORKSPACE = { id: 'ops', schema: `${BASE}/workspaces/personal`, name: 'ops', email: 'ops@example.com' };

function newId(): string {
  return randomBytes(8).toString('hex');
}

/** As the service writes times. */
function stamp(): string {
  return new Date().toISOString().replace('T', ' ').replace('Z', '000');
}
