import { request } from 'undici';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Parsed when it is JSON, text otherwise. */
  // oxlint-disable-next-line typescript/no-explicit-any -- each row looks into the answer that it is about
  body: any;
  text: string;
}

export interface Credentials {
  email?: string;
  password?: string;
  token?: string;
}

/** Speaks HTTP to the service as one user. */
export class Client {
  readonly baseUrl: string;
  readonly #token: string;

  constructor(baseUrl: string, token: string) {
    this.baseUrl = baseUrl;
    this.#token = token;
  }

  /** Logs in, unless there is a token already. @throws Error with the answer when that fails */
  static async login(baseUrl: string, credentials: Credentials): Promise<Client> {
    if (credentials.token !== undefined) return new Client(baseUrl, credentials.token);
    const { email, password } = credentials;
    const anonymous = new Client(baseUrl, '');
    const { status, body } = await anonymous.call('POST', '/services/security/token', { email, password });
    const token: unknown = typeof body === 'string' ? body : body?.token;
    if (status !== 200 || typeof token !== 'string') throw new Error(`login answered ${status}`);
    return new Client(baseUrl, token);
  }

  /** `body` goes as JSON unless it is bytes; `headers` win over the usual ones, `null` leaves one out. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string | null> = {},
  ): Promise<Answer> {
    const all: Record<string, string | null> = {
      'service-token': this.#token,
      'service-release': '4.0',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
    const sent = Object.entries(all).filter((entry): entry is [string, string] => !!entry[1]);
    const answer = await request(this.baseUrl + path, {
      method,
      headers: Object.fromEntries(sent),
      ...(body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    const type = String(answer.headers['content-type'] ?? '');
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string>,
      body: type.startsWith('application/json') && text !== '' ? JSON.parse(text) : text,
      text,
    };
  }

  get token(): string {
    return this.#token;
  }
}
