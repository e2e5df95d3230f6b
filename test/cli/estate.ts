import type { Sandbox } from '../../src/sandbox/index.ts';
import { TEST_PROVIDER_ID } from '../../src/sandbox/index.ts';

interface Made {
  id: string;
  uri: string;
  [field: string]: unknown;
}

/** Password values of the estate, by variable: no file of an import may have one. */
export const SECRETS = {
  DB_PASSWORD: 'hunter-of-the-estate',
  API_KEY: 'on',
  'runtime.TOKEN': 'token-of-nested',
};

/** What YAML, a shell or a terminal may take for something else. */
export const TRAPS = [
  'on',
  'NO',
  '~',
  '0o17',
  '0x1F',
  '1_000',
  '12:30:45',
  '1e3',
  '.inf',
  '2026-01-01',
  '=',
  '<<',
  '- a: b',
  '# no comment',
  '{{ .Values.x }}',
  '${HOME} $(id)',
  ' ends in white space\t',
  'a\nb\n\n',
  '\r\nwindows\r\n',
  'bell \u0007 and escape \u001b[31m',
  'line\u2028separator \u0085 next',
  'right \u202e to left',
  '\ufeffbom',
  '🎉 of joy',
  'it\'s "quoted" \\ back',
  '!!binary x',
  '&anchor *alias',
  '%directive',
  '---\nkind: Secret',
];

/** What a service has that people filled by hand, for years: over thirty records of every kind, with odd names and values. */
export class Estate {
  readonly #sandbox: Sandbox;
  readonly #token: string;

  constructor(sandbox: Sandbox, token: string) {
    this.#sandbox = sandbox;
    this.#token = token;
  }

  async call(method: string, path: string, body?: unknown): Promise<Made> {
    const bytes =
      body === undefined
        ? new Uint8Array()
        : body instanceof Uint8Array
          ? body
          : Buffer.from(JSON.stringify(body));
    const answer = await this.#sandbox.handle({
      method,
      path,
      headers: { 'service-token': this.#token, 'service-release': '4.0' },
      body: bytes,
    });
    const text = Buffer.from(answer.body).toString('utf8');
    if (answer.status >= 300) throw new Error(`${method} ${path} is answered ${answer.status}: ${text}`);
    return text === '' ? ({} as Made) : (JSON.parse(text) as Made);
  }

  async #blob(name: string, content: string | Uint8Array): Promise<Made> {
    return this.call('POST', `/services/blobs/upload/${encodeURIComponent(name)}`, Buffer.from(content));
  }

  async #box(name: string, more: object = {}, { type = 'script', create = {} } = {}): Promise<Made> {
    const schema = `${this.#sandbox.schemaBase}/boxes/${type}`;
    const requirements = type === 'policy' ? {} : { requirements: ['Linux'] };
    const made = await this.call('POST', '/services/boxes', { schema, name, ...requirements, ...create });
    return Object.keys(more).length === 0 ? made : this.call('PUT', made.uri, { ...made, ...more });
  }

  #policy(
    name: string,
    { profile = {}, ...create }: { profile?: object; [field: string]: unknown } = {},
  ): Promise<Made> {
    const usual = {
      schema: `${this.#sandbox.schemaBase}/test/compute/profile`,
      image: 'test',
      flavor: 'test.micro',
      location: 'Simulated Location',
      keypair: 'test_keypair',
      instances: 1,
    };
    const policy = {
      claims: ['Linux'],
      provider_id: TEST_PROVIDER_ID,
      profile: { ...usual, ...profile },
      ...create,
    };
    return this.#box(name, {}, { type: 'policy', create: policy });
  }

  #deploy(
    name: string,
    box: Made,
    policy: Made,
    more: { variables?: object[]; [field: string]: unknown } = {},
  ): Promise<Made> {
    const { variables = [], ...rest } = more;
    return this.call('POST', '/services/instances', {
      schema: `${this.#sandbox.schemaBase}/deploy-instance-request`,
      name,
      box: { id: box.id, variables },
      policy_box: { id: policy.id, variables: [] },
      ...rest,
    });
  }

  /** Makes it. `pass`: lets the time of an operation pass. */
  async build(pass: () => Promise<void>): Promise<void> {
    const small = await this.#blob('install.sh', '#!/bin/bash\necho on\n');
    const large = await this.#blob('configure.sh', `#!/bin/bash\n${'echo a line of many\n'.repeat(1_000)}`);
    const binary = await this.#blob('data.bin', Uint8Array.from([0, 255, 254, 128, 10]));
    const key = await this.#blob(
      'tls.key',
      '-----BEGIN RSA PRIVATE KEY-----\nkey-of-the-estate\n-----END RSA PRIVATE KEY-----\n',
    );
    const picture = await this.#blob('logo.png', Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]));
    const runtime = await this.#box('Runtime', {
      events: { install: small, configure: { ...large, destination_path: '/opt/run' }, start: binary },
      variables: [
        { name: 'WORKERS', type: 'Number', value: '4' },
        { name: 'TOKEN', type: 'Password', value: '' },
      ],
    });
    const plain = await this.#box('plain');
    const web = await this.#box('Web App', {
      description: 'yes: "no"',
      icon: picture['url'],
      variables: [
        { name: 'PORT', type: 'Port', value: '8080', required: true },
        { name: 'DB_PASSWORD', type: 'Password', value: SECRETS.DB_PASSWORD },
        { name: 'API_KEY', type: 'Password', value: '', visibility: 'private' },
        { name: 'MODE', type: 'Options', value: 'on', options: 'on,off', visibility: 'internal' },
        { name: 'KEY', type: 'File', value: key['url'] },
        { name: 'CONF', type: 'File', value: large['url'] },
        { name: 'runtime', type: 'Box', value: runtime.id },
        { name: 'db', type: 'Binding', value: plain.id },
        { name: 'WORKERS', type: 'Number', value: '8', scope: 'runtime' },
      ],
    });
    await this.#box('web-app', { variables: [{ name: 'inner', type: 'Box', value: web.id }] });
    await this.#box('traps', {
      description: 'x'.repeat(1_000),
      variables: TRAPS.map((value, index) => ({ name: `TRAP_${index}`, type: 'Text', value })),
    });
    await this.#box('Ünïcödé / ../../etc');
    await this.#box('…', {
      variables: [
        { name: 'has space', type: 'Text', value: 'x' },
        { name: 'ODD', type: 'Mystery', value: 'y' },
      ],
    });
    await this.#box('n'.repeat(200));
    const docker = await this.#box('image', {}, { type: 'docker', create: { dockerfile: small } });
    const versioned = await this.#box('versioned');
    await this.call('PUT', versioned.uri, {
      ...versioned,
      version: { box: versioned.id, description: 'first', number: { major: 1, minor: 0, patch: 0 } },
    });
    const smallPolicy = await this.#policy('small');
    await this.#policy('small policy', {
      lifespan: { operation: 'terminate', interval: 'hours', quantity: 72 },
      profile: { zone: 'no', ttl: '0777', nested: { on: 'off', list: ['y', null, true, 1.5] } },
    });
    await this.#policy('Small', { description: 'null', profile: { security_groups: ['a', 'on'] } });
    await this.#policy('POLICY', { visibility: 'public', lifespan: { operation: 'none' } });

    const instances = [
      await this.#deploy('web eu', web, smallPolicy, {
        variables: [
          { name: 'PORT', type: 'Port', value: '81' },
          { name: 'DB_PASSWORD', type: 'Password', value: SECRETS.DB_PASSWORD },
          { name: 'API_KEY', type: 'Password', value: SECRETS.API_KEY },
          { name: 'CONF', type: 'File', value: small['url'] },
          { name: 'WORKERS', type: 'Number', value: '2', scope: 'runtime' },
          { name: 'TOKEN', type: 'Password', value: SECRETS['runtime.TOKEN'], scope: 'runtime' },
        ],
        instance_tags: ['shop', 'on', 'bw-aaaaaaaa-bbbbbbbbbbbbbbbb'],
        lease: { operation: 'shutdown', expire: '2099-01-01 00:00:00.000000' },
      }),
    ];
    for (let number = 1; number <= 14; number++)
      instances.push(await this.#deploy(`machine ${number}`, number % 2 === 0 ? plain : docker, smallPolicy));
    instances.push(await this.#deploy('Machine 1', plain, smallPolicy, { instance_tags: ['Ω', '0777'] }));
    await pass();
    const [, down, ended] = instances;
    if (down !== undefined) await this.call('PUT', `${down.uri}/shutdown`);
    if (ended !== undefined) await this.call('DELETE', `${ended.uri}?operation=terminate`);
    await pass();
  }
}
