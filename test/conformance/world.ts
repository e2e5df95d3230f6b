import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, Client } from './client.ts';

/** Thrown by a row that needs something this run does not have. */
export class NotHere extends Error {
  readonly code = 'NotHere';
}

/** Who takes part, beside the first user. */
export interface Cast {
  /** Administers its organization. */
  main: Client;
  /** Of the same organization, no administrator. */
  member?: Client;
  /** Of another organization. */
  outsider?: Client;
  credentials?: { email: string; password: string };
  /** A second service, started with the flags for old clients: only beside a fresh embedded one. */
  classic?: Client;
}

// oxlint-disable-next-line typescript/no-explicit-any -- records as the service answers them
export type Record_ = any;

/** What the rows share: the users, and records that are made once, on first use. */
export class World {
  readonly cast: Cast;
  readonly #memo = new Map<string, Promise<unknown>>();
  readonly #undo: (() => Promise<unknown>)[] = [];
  readonly #tag = Math.random().toString(36).slice(2, 8);
  #count = 0;

  constructor(cast: Cast) {
    this.cast = cast;
  }

  call(...args: Parameters<Client['call']>): Promise<Answer> {
    return this.cast.main.call(...args);
  }

  /** The body of an answer that has to have `status`. */
  async get(path: string, status = 200): Promise<Record_> {
    return this.expect(status, 'GET', path);
  }

  async expect(status: number, method: string, path: string, body?: unknown): Promise<Record_> {
    const answer = await this.call(method, path, body);
    if (answer.status !== status) {
      throw new Error(`${method} ${path} answered ${answer.status} instead of ${status}: ${answer.text}`);
    }
    return answer.body;
  }

  get member(): Client {
    if (this.cast.member === undefined) throw new NotHere('needs --member-token');
    return this.cast.member;
  }

  get outsider(): Client {
    if (this.cast.outsider === undefined) throw new NotHere('needs --outsider-token');
    return this.cast.outsider;
  }

  /** A call of the service that was started for old clients. */
  classic(...args: Parameters<Client['call']>): Promise<Answer> {
    if (this.cast.classic === undefined) throw new NotHere('needs the embedded service with its flags');
    return this.cast.classic.call(...args);
  }

  /** A name that nothing else has. */
  name(): string {
    return `conf ${this.#tag} ${++this.#count}`;
  }

  once<T>(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#memo.get(key) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const made = make();
    this.#memo.set(key, made);
    return made;
  }

  personal(): Promise<Record_> {
    return this.once('personal', async () => {
      const all = await this.get('/services/workspaces');
      const found = all.find((workspace: Record_) =>
        String(workspace.schema).endsWith('/workspaces/personal'),
      );
      if (found === undefined) throw new Error('there is no personal workspace in the list');
      return found;
    });
  }

  async base(): Promise<string> {
    return String((await this.personal()).schema).replace(/\/workspaces\/personal$/, '');
  }

  testProvider(): Promise<Record_> {
    return this.once('test provider', async () => {
      const all = await this.get('/services/providers');
      const found = all.find((provider: Record_) => provider.type === 'Test Provider');
      if (found === undefined) throw new NotHere('needs a Test Provider');
      return found;
    });
  }

  /** A new box of a type, as POST answered it. */
  async box(kind: string, more: object = {}): Promise<Record_> {
    const fields: Record<string, object> = {
      script: { requirements: ['Linux'] },
      docker: { requirements: ['Linux'] },
      policy: {
        provider_id: kind === 'policy' ? (await this.testProvider()).id : '',
        profile: { schema: `${await this.base()}/test/compute/profile`, flavor: 'test.micro', instances: 1 },
        claims: ['Linux'],
      },
      cloudformation: {
        provider_id: kind === 'cloudformation' ? (await this.awsProvider()).id : '',
        type: 'S3 Bucket',
        requirements: [],
      },
    };
    const created = await this.expect(200, 'POST', '/services/boxes', {
      schema: `${await this.base()}/boxes/${kind}`,
      name: this.name(),
      ...fields[kind],
      ...more,
    });
    this.#undo.push(() => this.call('DELETE', created.uri));
    return created;
  }

  /** The same, put once more with `more`. */
  async boxWith(kind: string, more: object): Promise<Record_> {
    const created = await this.box(kind);
    return this.expect(200, 'PUT', created.uri, { ...created, ...more });
  }

  shared(kind: string): Promise<Record_> {
    return this.once(`box ${kind}`, () => this.box(kind));
  }

  async upload(name: string, content: string): Promise<Record_> {
    const path = `/services/blobs/upload/${encodeURIComponent(name)}`;
    const answer = await this.call('POST', path, Buffer.from(content), { 'content-type': 'text/plain' });
    if (answer.status !== 200) throw new Error(`the upload answered ${answer.status}: ${answer.text}`);
    return answer.body;
  }

  async provider(kind: string, type: string, fields: object): Promise<Record_> {
    const created = await this.expect(202, 'POST', '/services/providers', {
      schema: `${await this.base()}/${kind}/provider`,
      type,
      name: this.name(),
      ...fields,
    });
    this.#undo.push(() => this.call('DELETE', created.uri));
    return created;
  }

  awsProvider(): Promise<Record_> {
    return this.once('aws', () =>
      this.provider('aws', 'Amazon Web Services', { credentials: { key: 'AK', secret: 'conf-secret' } }),
    );
  }

  /** A deploy request for the shared boxes. */
  async deployRequest(more: object = {}): Promise<Record<string, unknown>> {
    return {
      schema: `${await this.base()}/deploy-instance-request`,
      name: this.name().slice(0, 30),
      box: { id: (await this.shared('script')).id },
      policy_box: { id: (await this.shared('policy')).id },
      ...more,
    };
  }

  /** A new instance, as POST answered it. */
  async deploy(more: object = {}): Promise<Record_> {
    const created = await this.expect(202, 'POST', '/services/instances', await this.deployRequest(more));
    this.#undo.push(async () => {
      await this.call('DELETE', `${created.uri}?operation=force_terminate`);
      await this.settled(created.uri);
      await this.call('DELETE', created.uri);
    });
    return created;
  }

  /** A new instance that is online. */
  async online(more: object = {}): Promise<Record_> {
    return this.settled((await this.deploy(more)).uri);
  }

  running(): Promise<Record_> {
    return this.once('instance', () => this.online({ instance_tags: ['conf'] }));
  }

  /** Polls until the instance is no longer processing. */
  async settled(uri: string): Promise<Record_> {
    for (let n = 0; n < 1200; n++) {
      const { status, body } = await this.call('GET', uri);
      if (status !== 200 || body.state !== 'processing') return body;
      await pause();
    }
    throw new Error(`${uri} did not stop processing`);
  }

  /** Polls until `done` is true of what `path` answers. */
  async until(path: string, done: (body: Record_) => boolean): Promise<Record_> {
    for (let n = 0; n < 600; n++) {
      const { body } = await this.call('GET', path);
      if (done(body)) return body;
      await pause();
    }
    throw new Error(`${path} did not become what was waited for`);
  }

  async organization(): Promise<Record_> {
    const { organization } = await this.personal();
    return this.get(`/services/organizations/${organization}`);
  }

  /** The answer to a PUT of the organization with `change`; what was there before is put back at the end. */
  async changeOrganization(change: object): Promise<Answer> {
    const before = await this.once('organization', () => this.organization());
    const path = `/services/organizations/${before.name}`;
    if (this.#memo.get('restore') === undefined) {
      this.#memo.set('restore', Promise.resolve());
      this.#undo.push(() => this.call('PUT', path, before));
    }
    return this.call('PUT', path, { ...before, ...change });
  }

  /** A webhook receiver on loopback: `answer` gets each call. */
  async receiver(answer: (hook: Record_) => unknown): Promise<string> {
    const server: Server = createServer((incoming, response) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        response.end(JSON.stringify(answer(JSON.parse(Buffer.concat(chunks).toString()))));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#undo.push(async () => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  }

  later(undo: () => Promise<unknown>): void {
    this.#undo.push(undo);
  }

  /** Takes everything away again, the newest first. */
  async cleanUp(): Promise<void> {
    for (const undo of this.#undo.toReversed()) await undo();
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
