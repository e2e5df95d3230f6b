import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { ServiceTransportError, type PortAnswer, type PortRequest } from '../../src/service/index.ts';
import { cliOutput } from '../support/cli-output.ts';
import { ENCODINGS } from '../support/encodings.ts';
import { leaks, type Places } from '../support/leaks.ts';
import { LogCapture } from '../support/log-capture.ts';
import { typeOfKind } from '../support/world.ts';
import { instance, MINUTE, Shop } from './shop.ts';

/** Secrets that must show up nowhere, by what they are. Those that are no token hold what encodings change. */
const CANARIES = {
  token: 'cAn4ry-T0ken.7Q2w9e~xK3',
  password: 'pAssw0rd/8R3x"0f&Ü+mN5',
  variable: "v4riable <9S4y>'1g%zz=\\J6",
  override: '0verr1de:1T5z2h;Ω#kq',
  file: 'f1le-content-2U6a3i-0123456789-abcdefghij-KLMNOPQRST-uvwxyz-98765-part-of-a-long-line',
} as const;

const MANIFESTS = `
apiVersion: v1
kind: Secret
metadata: {name: deploy-login}
stringData: {token: ${CANARIES.token}}
---
apiVersion: v1
kind: Secret
metadata: {name: by-password}
stringData: {email: ops@example.com, password: ${JSON.stringify(CANARIES.password)}}
---
apiVersion: v1
kind: Secret
metadata: {name: inner}
stringData:
  variable: ${JSON.stringify(CANARIES.variable)}
  override: ${JSON.stringify(CANARIES.override)}
  file: ${JSON.stringify(`# a file\nKEY=${CANARIES.file}\n`)}
---
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: main}
spec: {endpoint: https://service.test, credentialsRef: {name: deploy-login}}
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  driftPolicy: Report
  description: Front end
  variables:
    - {name: SECRET, type: Password, valueFrom: {secretKeyRef: {name: inner, key: variable}}}
    - {name: KEYS, type: File, file: {secretKeyRef: {name: inner, key: file}}}
    - {name: TEXT, type: Text, value: plain}
  events:
    install: {inline: "#!/bin/bash"}
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: versioned}
spec:
  connectionRef: {name: main}
  driftPolicy: Report
  description: Back end
  readme: {inline: "Read me"}
  members: [{workspace: shop, role: Read}]
  variables:
    - {name: SECRET, type: Password, valueFrom: {secretKeyRef: {name: inner, key: variable}}}
  events:
    install: {inline: "#!/bin/bash"}
  publish: {version: 1.0.0, description: First}
---
apiVersion: boxwright.dev/v1alpha1
kind: PolicyBox
metadata: {name: small}
spec:
  connectionRef: {name: main}
  driftPolicy: Report
  description: Small
  providerId: 00000000-0000-4000-8000-000000000001
  claims: [Linux]
  variables: [{name: SECRET, type: Password}]
  profile: {schema: test/compute/profile, properties: {image: test, flavor: test.micro, location: Simulated Location, keypair: test_keypair, instances: 1}}
---
${declared('web-eu')}`;

function declared(name: string): string {
  return instance(
    `  driftPolicy: Report
  variables:
    - {name: TEXT, type: Text, value: mine}
    - {name: SECRET, type: Password, valueFrom: {secretKeyRef: {name: inner, key: override}}}`,
    name,
  );
}

/** How it quotes the secret of an index. */
type Quote = (secret: string, index: number) => string;

/** A service that quotes, in every place where it says anything, what it was sent by whoever asks. */
class Echo {
  readonly #quote: Quote;

  constructor(quote: Quote) {
    this.#quote = quote;
  }

  wordsFor({ path, headers }: PortRequest): string {
    const { password, ...others } = CANARIES;
    const isOther = path.endsWith('/token') || headers['service-token'] !== CANARIES.token;
    return (isOther ? [password] : Object.values(others)).map(this.#quote).join(' and ');
  }

  /** Its answers, with the words wherever a person may see them. */
  readonly spoil = (request: PortRequest, given: PortAnswer): PortAnswer => {
    const words = this.wordsFor(request);
    const headers = {
      ...given.headers,
      'retry-after': words,
      etag: words,
      date: words,
      warning: `299 service ${JSON.stringify(words)}`,
    };
    if (request.path.includes('/activity')) {
      const lines = [{ text: `${'x'.repeat(900)} ${words}`, machine: words, event: words, exit_code: 3 }];
      return { status: 200, headers, body: Buffer.from(JSON.stringify(lines)) };
    }
    if (given.status !== 200 || !(given.headers['content-type'] ?? '').includes('json')) return given;
    const body = JSON.parse(Buffer.from(given.body).toString()) as unknown;
    return { ...given, headers, body: Buffer.from(JSON.stringify(changed(body, words))) };
  };

  refuses(request: PortRequest, status: number): PortAnswer {
    const words = this.wordsFor(request);
    return {
      status,
      headers: { 'content-type': 'application/json', 'retry-after': words, location: `https://${words}/` },
      body: Buffer.from(JSON.stringify({ message: `refused: ${words}`, code: words })),
    };
  }
}

/** A record with the words wherever a person may see them; what identifies it stays. */
function changed(value: unknown, words: string): unknown {
  if (Array.isArray(value)) return value.map((item) => changed(item, words));
  if (value === null || typeof value !== 'object') return value;
  const record: Record<string, unknown> = { ...value };
  if ('service' in record) {
    const machine = { name: words, state: words, address: { public: words, private: words } };
    record['service'] = { type: words, id: words, machines: [machine] };
    if (String(record['name']).startsWith('fails')) record['state'] = 'unavailable';
    if (String(record['name']).startsWith('odd')) record['state'] = words;
  }
  if (typeof record['operation'] === 'object') {
    record['operation'] = { ...record['operation'], workspace: words, created: words };
  }
  if (Array.isArray(record['tags'])) record['tags'] = [...(record['tags'] as string[]), words];
  if (Array.isArray(record['variables'])) {
    const variables = record['variables'] as { name: string; value?: string }[];
    record['variables'] = [
      ...variables.map((one) => (one.name === 'TEXT' ? { ...one, value: words } : one)),
      { name: `THEIRS ${words}`, type: 'Text', value: words },
    ];
  }
  if ('description' in record) record['description'] = words;
  if ('profile' in record)
    record['profile'] = { ...(record['profile'] as object), flavor: words, [words]: words };
  if ('email' in record) record['email'] = words;
  if (typeof record['version'] === 'object') {
    record['version'] = { ...record['version'], description: words };
  }
  if ('visibility' in record) record['visibility'] = words;
  if (Array.isArray(record['members'])) {
    record['members'] = [...(record['members'] as object[]), { workspace: words, role: words }];
  }
  return record;
}

/** Everything that anybody may read, at any time. */
class Readers {
  readonly log: LogCapture;
  readonly #texts: Record<string, Set<string>> = {};

  constructor(clock: VirtualClock) {
    this.log = new LogCapture(clock);
  }

  follow({ world }: Shop): void {
    world.kube.store.listen(({ resource, object }) => {
      if (!resource.endsWith('boxwright.dev')) return;
      const { status, metadata } = object as unknown as {
        status?: object;
        metadata: Record<string, unknown>;
      };
      const { annotations, finalizers } = metadata;
      (this.#texts[`status of ${resource}`] ??= new Set()).add(
        JSON.stringify({ status, annotations, finalizers }),
      );
    });
  }

  async look({ world }: Shop): Promise<Places> {
    return {
      ...Object.fromEntries(
        Object.entries(this.#texts).map(([place, texts]) => [place, [...texts].join('\n')]),
      ),
      events: JSON.stringify(world.events),
      'explain, doctor and status': cliOutput(world),
      metrics: await world.metrics.render(),
      'log fields and errors': this.log.raw.join('\n'),
      'log as written': this.log.written.join(''),
    };
  }
}

function raw(status: number, type: string, text: string): PortAnswer {
  return { status, headers: { 'content-type': type }, body: Buffer.from(text) };
}

/** Lets the service say everything, in one encoding; what readers have seen in the end. */
async function said(
  quote: Quote,
  isTold: (at: number) => boolean,
): Promise<{ shop: Shop; readers: Readers }> {
  const clock = new VirtualClock();
  const readers = new Readers(clock);
  const echo = new Echo(quote);
  const shop = new Shop({
    clock,
    log: readers.log,
    sandbox: { account: { email: 'ops@example.com', password: CANARIES.password, token: CANARIES.token } },
  });
  readers.follow(shop);
  const { world } = shop;
  world.start();
  await world.apply(MANIFESTS);
  await shop.online();

  const judges: Shop['judge'][] = [
    ...[400, 401, 403, 409, 422, 500, 503].map(
      (status): Shop['judge'] =>
        (request) =>
          request.method === 'GET' ? undefined : echo.refuses(request, status),
    ),
    ...[302, 403, 404, 429, 500].map(
      (status): Shop['judge'] =>
        (request) =>
          echo.refuses(request, status),
    ),
    (request) => raw(502, 'text/html', `<p>${echo.wordsFor(request)}</p>`),
    (request) => raw(200, 'application/json', `{"id": "x", ${echo.wordsFor(request)}`),
    (request) => raw(200, 'application/json', JSON.stringify({ id: echo.wordsFor(request), uri: 7 })),
    (request) =>
      Promise.reject(
        new ServiceTransportError('Tls', `not trusted: ${echo.wordsFor(request)}`, { maybeSent: false }),
      ),
    (request) => Promise.reject(new TypeError(echo.wordsFor(request), { cause: echo.wordsFor(request) })),
  ];
  // What it shows.
  shop.spoil = echo.spoil;
  await world.apply(`${declared('fails')}\n---\n${declared('odd')}`);
  await world.advance(25 * MINUTE);
  // What it refuses, and how it fails.
  for (const [at, judge] of judges.entries()) {
    if (!isTold(at)) continue;
    shop.judge = judge;
    await world.apply(`
apiVersion: boxwright.dev/v1alpha1
kind: Connection
metadata: {name: by-password-${at}}
spec: {endpoint: https://service.test, credentialsRef: {name: by-password}}
`);
    await world.edit('Box', 'web', { description: `Front end ${at}` });
    await world.edit('Box', 'versioned', { publish: { version: `1.${at + 1}.0`, description: `${at}` } });
    await world.edit('PolicyBox', 'small', { description: `Small ${at}` });
    await world.edit('Instance', 'web-eu', { tags: [`t${at}`] });
    await world.apply(declared(`refused-${at}`));
    for (const name of ['web-eu', 'fails']) {
      await world.annotate('Instance', name, { 'boxwright.dev/request-reinstall': `r${at}` });
    }
    await world.advance(3 * MINUTE);
    shop.judge = () => undefined;
    await world.advance(MINUTE);
  }
  for (const name of ['web-eu', 'fails']) await world.delete('Instance', name);
  await world.advance(5 * MINUTE);
  return { shop, readers };
}

describe('secrets', () => {
  // S2, S13, H8. Each way to fail is told in plain, and in some encodings; each encoding is that of some secret.
  const encodings = Object.entries(ENCODINGS);
  const turns = [undefined, ...Array.from({ length: Math.ceil(encodings.length / 4) }, (_, turn) => turn)];
  it.each(turns)('show nowhere, whatever a service quotes: turn %s', async (turn) => {
    const quote: Quote = (secret, index) => {
      const [, encode] = encodings[((turn ?? 0) * 4 + index) % encodings.length] ?? [];
      return turn === undefined || encode === undefined ? secret : encode(secret);
    };
    const { shop, readers } = await said(quote, (at) => turn === undefined || at % turns.length === turn);
    const { world } = shop;
    try {
      const seen = await readers.look(shop);
      expect(leaks(seen, CANARIES)).toEqual([]);
      // It did quote them where people look.
      for (const place of ['connections', 'boxes', 'policyboxes', 'instances']) {
        expect(seen[`status of ${place}.boxwright.dev`]).toContain('****');
      }
      expect(seen['events']).toContain('****');
      expect(seen['explain, doctor and status']).toContain('****');
      expect(world.events.map(({ reason }) => reason)).toContain('ServiceWarned');
      const { status } = world.kube.get(typeOfKind('Box'), { namespace: 'shop', name: 'versioned' }) as {
        status?: { versions?: object[] };
      };
      expect(status?.versions).not.toEqual([]);
      expect(readers.log.raw.length).toBeGreaterThan(50);
    } finally {
      shop.world.kill();
    }
  });

  it('that leak are found, whichever output they leak by and in whichever encoding', async () => {
    const { shop, readers } = await said(
      (text) => text,
      () => false,
    );
    const { world } = shop;
    for (const [name, encode] of Object.entries(ENCODINGS)) {
      const planted = encode(CANARIES.variable);
      const cut = encode(CANARIES.file).slice(0, 80);
      const cause = Object.assign(new Error('x'), { request: { headers: { 'service-token': planted } } });
      readers.log.debug({ err: new Error('cannot log in', { cause }) }, name);
      readers.log.info({ note: `uploading ${cut}` }, name);
      world.metrics.events.inc({ outcome: planted });
      world.events.push({
        regarding: { apiVersion: 'v1', kind: 'Box', name: 'web', namespace: 'shop', uid: 'u' },
        type: 'Normal',
        reason: 'Planted',
        action: 'Plant',
        note: cut,
      });
      const message = planted;
      const lastTransitionTime = '2026-01-01T00:00:00Z';
      const conditions = [{ type: 'Ready', status: 'False', reason: 'Refused', message, lastTransitionTime }];
      const status = { uri: planted, conditions };
      await world.user.mergePatch(
        typeOfKind('Box'),
        { namespace: 'shop', name: 'web' },
        { status },
        { subresource: 'status' },
      );
      const found = leaks(await readers.look(shop), CANARIES);
      expect({ name, found }).toEqual({
        name,
        found: expect.arrayContaining([
          'status of boxes.boxwright.dev: variable',
          'explain, doctor and status: file',
          'events: file',
          'metrics: variable',
          'log fields and errors: variable',
          'log fields and errors: file',
          'log as written: file',
        ]) as string[],
      });
    }
    shop.world.kill();
  });

  it('that were sent with the deploy are known to the next process, whether or not their Secret is there', async () => {
    const echo = new Echo((text) => text);
    const shop = new Shop({ sandbox: { account: { email: 'ops@example.com', token: CANARIES.token } } });
    const { world } = shop;
    try {
      world.start();
      await world.apply(MANIFESTS);
      const secret =
        '{name: SECRET, type: Password, valueFrom: {secretKeyRef: {name: inner, key: override}}}';
      await world.apply(instance(`  policyVariables: [${secret}]`, 'by-policy'));
      await shop.online();
      await shop.online('by-policy');
      world.kill();
      for (const name of ['web-eu']) await world.edit('Instance', name, { variables: [] });
      world.start();
      await world.advance(MINUTE);
      shop.judge = (request) => (request.method === 'GET' ? undefined : echo.refuses(request, 400));
      await world.edit('Instance', 'by-policy', { tags: ['one'] });
      await world.until(() => shop.ready('by-policy') === 'False Refused');
      expect(shop.message('by-policy')).toContain('****');
      expect(leaks({ message: shop.message('by-policy') }, CANARIES)).toEqual([]);
      await world.delete('Secret', 'inner');
      world.kill();
      world.start();
      shop.judge = () => undefined;
      await world.edit('Instance', 'by-policy', { tags: ['two'] });
      await world.until(() => shop.ready('by-policy') === 'True Settled');
    } finally {
      world.kill();
    }
  });
});
