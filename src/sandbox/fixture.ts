import { VirtualClock } from '../base/virtual-clock.ts';
import { createSandbox, TEST_PROVIDER_ID, type Sandbox, type SandboxOptions } from './index.ts';

/** What a test reads of an answer; bodies are JSON whose shape the test itself asserts. */
export interface Answered {
  status: number;
  headers: Record<string, string>;
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into answers freely
  body: any;
}

export interface Fixture {
  sandbox: Sandbox;
  clock: VirtualClock;
  /** A call with the first user's token, or with `token`; `body` is sent as JSON unless it is bytes. */
  call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answered>;
  /** A script box with these event scripts and a policy box for the Test Provider. */
  deployable: (scripts?: Record<string, string>, box?: object, policy?: object) => Promise<Deployable>;
  deploy: (boxes: Deployable, more?: object) => Promise<Answered['body']>;
  /** Uploads a file; returns its record. */
  upload: (name: string, content: string) => Promise<{ url: string; length: number }>;
}

export interface Deployable {
  box: Answered['body'];
  policy: Answered['body'];
}

const TOKEN = '11111111-2222-4333-8444-555555555555';

/** Numbers that are the same in each run. */
export function seeded(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A sandbox in memory on a virtual clock, with short ways to talk to it. */
export function startFixture(options: SandboxOptions & { clock?: VirtualClock } = {}): Promise<Fixture> {
  const clock = options.clock ?? new VirtualClock();
  const sandbox = createSandbox({
    random: seeded(),
    account: { email: 'ops@example.com', password: 'secret-1', token: TOKEN },
    teams: ['Shop Team'],
    ...options,
    clock,
  });
  return Promise.resolve({ sandbox, clock, ...helpers(sandbox) });
}

function helpers(sandbox: Sandbox): Omit<Fixture, 'sandbox' | 'clock'> {
  const base = sandbox.schemaBase;
  const call: Fixture['call'] = async (method, path, body, headers = {}) => {
    const bytes =
      body === undefined
        ? new Uint8Array()
        : body instanceof Uint8Array
          ? body
          : Buffer.from(JSON.stringify(body));
    const answer = await sandbox.handle({
      method,
      path,
      headers: { 'service-token': TOKEN, 'service-release': '4.0', ...headers },
      body: bytes,
    });
    const text = Buffer.from(answer.body).toString('utf8');
    const isJson = answer.headers['content-type'] === 'application/json' && text !== '';
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
  };
  const upload: Fixture['upload'] = async (name, content) => {
    const path = `/services/blobs/upload/${encodeURIComponent(name)}`;
    return (await call('POST', path, Buffer.from(content), { 'content-type': 'text/x-shellscript' })).body;
  };
  let count = 0;
  const deployable: Fixture['deployable'] = async (scripts = {}, box = {}, policy = {}) => {
    const n = ++count;
    const created = await ok(
      call('POST', '/services/boxes', {
        schema: `${base}/boxes/script`,
        name: `box ${n}`,
        requirements: ['Linux'],
      }),
    );
    const events: Record<string, unknown> = {};
    for (const [event, content] of Object.entries(scripts)) {
      events[event] = await upload(`${event}.sh`, content);
    }
    return {
      box: await ok(call('PUT', created.uri, { ...created, events, ...box })),
      policy: await ok(
        call('POST', '/services/boxes', {
          schema: `${base}/boxes/policy`,
          name: `policy ${n}`,
          provider_id: TEST_PROVIDER_ID,
          profile: { schema: `${base}/test/compute/profile`, flavor: 'test.micro', instances: 1 },
          claims: ['Linux'],
          ...policy,
        }),
      ),
    };
  };
  const deploy: Fixture['deploy'] = ({ box, policy }, more = {}) =>
    ok(
      call('POST', '/services/instances', {
        schema: `${base}/deploy-instance-request`,
        box: { id: box.id },
        policy_box: { id: policy.id },
        ...more,
      }),
    );
  return { call, upload, deployable, deploy };
}

/** The body of a successful answer. @throws Error with the answer when it is none */
export async function ok(answer: Promise<Answered>): Promise<Answered['body']> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`the sandbox answered ${status}: ${JSON.stringify(body)}`);
  return body;
}
