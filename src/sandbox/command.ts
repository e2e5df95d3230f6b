import { DEFAULT_DURATIONS, type Durations } from './settings.ts';
import { keepHeapSmall } from './heap.ts';
import { BUNDLES, bundledReadings } from './edge/bundles.ts';
import type { HeaderNames } from './edge/header-names.ts';
import { writePrivateFile } from './private-file.ts';
import { createSandbox, type SandboxLog } from './sandbox.ts';
import { READINGS, type ReadingChoice } from './edge/readings.ts';

/** What `boxwright sandbox` takes from the command line. */
export interface SandboxCommandOptions {
  host: string;
  port: number;
  adminPort: number;
  data: string;
  email?: string;
  password?: string;
  token?: string;
  adminToken?: string;
  team?: readonly string[];
  schemaBase?: string;
  latency?: number;
  runScripts?: boolean;
  scriptTimeout?: number;
  webhookHost?: readonly string[];
  /** `name=milliseconds` */
  duration?: readonly string[];
  /** `name=value` */
  reading?: readonly string[];
  /** Names of bundled readings. */
  as?: readonly string[];
  /** `token=NAME` or `release=NAME` */
  header?: readonly string[];
  credentialsFile?: string;
  /** Of `export` and `import`; `-` is standard output or input. */
  file?: string;
  /** Of `export`. */
  secrets?: boolean;
}

/** One option as the command line shows it. */
export interface SandboxFlag {
  /** As commander takes it. */
  flags: string;
  description: string;
  /** Key of {@link SandboxCommandOptions}. */
  name: keyof SandboxCommandOptions;
  default?: string | number;
  /** How the text is to be read; `list` may be given several times. */
  type: 'text' | 'number' | 'list' | 'boolean';
}

/** Every option, in the order of the help text. */
export const SANDBOX_FLAGS: readonly SandboxFlag[] = [
  {
    name: 'host',
    flags: '--host <address>',
    description: 'address to listen on; anything but loopback lets others in',
    default: '127.0.0.1',
    type: 'text',
  },
  {
    name: 'port',
    flags: '--port <n>',
    description: 'port of the service; 0 takes a free one',
    default: 8420,
    type: 'number',
  },
  {
    name: 'adminPort',
    flags: '--admin-port <n>',
    description: 'port of the controls that a real service does not have; 0 takes a free one',
    default: 0,
    type: 'number',
  },
  {
    name: 'data',
    flags: '--data <directory>',
    description: 'where the data are kept, or :memory:',
    default: ':memory:',
    type: 'text',
  },
  {
    name: 'email',
    flags: '--email <address>',
    description: 'the first user',
    default: 'admin@sandbox.example',
    type: 'text',
  },
  {
    name: 'password',
    flags: '--password <text>',
    description: 'its password (default: generated)',
    type: 'text',
  },
  { name: 'token', flags: '--token <text>', description: 'a token of it (default: generated)', type: 'text' },
  {
    name: 'adminToken',
    flags: '--admin-token <text>',
    description: 'bearer token of the admin port (default: generated)',
    type: 'text',
  },
  {
    name: 'team',
    flags: '--team <name>',
    description: 'a team workspace of the first user (repeatable)',
    type: 'list',
  },
  {
    name: 'schemaBase',
    flags: '--schema-base <uri>',
    description: 'start of all schema identifiers',
    type: 'text',
  },
  { name: 'latency', flags: '--latency <ms>', description: 'added to each call', default: 0, type: 'number' },
  {
    name: 'runScripts',
    flags: '--run-scripts',
    description: 'really run event scripts, as you, in a directory per machine; otherwise they are simulated',
    type: 'boolean',
  },
  {
    name: 'scriptTimeout',
    flags: '--script-timeout <ms>',
    description: 'time for one script',
    default: 300_000,
    type: 'number',
  },
  {
    name: 'webhookHost',
    flags: '--webhook-host <name>',
    description: 'a host that webhooks may call (repeatable; * for all; default: loopback only)',
    type: 'list',
  },
  {
    name: 'duration',
    flags: '--duration <operation=ms>',
    description: `how long an operation takes (repeatable): ${Object.keys(DEFAULT_DURATIONS).join(', ')}`,
    type: 'list',
  },
  {
    name: 'reading',
    flags: '--reading <name=value>',
    description: `how an open point is read (repeatable): ${Object.keys(READINGS).join(', ')}`,
    type: 'list',
  },
  {
    name: 'as',
    flags: '--as <name>',
    description: `readings that belong together (repeatable): ${Object.keys(BUNDLES).join(', ')}`,
    type: 'list',
  },
  {
    name: 'header',
    flags: '--header <token|release=NAME>',
    description: "another name for the token or the release header, beside the interface's own (repeatable)",
    type: 'list',
  },
  {
    name: 'credentialsFile',
    flags: '--credentials-file <path>',
    description: 'writes addresses and credentials there as JSON, readable by you only',
    type: 'text',
  },
  {
    name: 'file',
    flags: '--file <path>',
    description: 'of export and import: the file of the state; - is standard output or input',
    default: '-',
    type: 'text',
  },
  {
    name: 'secrets',
    flags: '--secrets',
    description: 'of export: passwords and tokens too; otherwise they are masked',
    type: 'boolean',
  },
];

export interface CommandIo {
  write: (text: string) => void;
  /** Aborted to end it (^C, SIGTERM). */
  signal: AbortSignal;
  log?: SandboxLog;
}

/** Runs the embedded service until `io.signal` is aborted. @throws Error that names the option that is wrong */
export async function runSandbox(options: SandboxCommandOptions, io: CommandIo): Promise<void> {
  keepHeapSmall();
  const { email, password, token } = options;
  const sandbox = createSandbox({
    data: options.data,
    account: {
      ...(email === undefined ? {} : { email }),
      ...(password === undefined ? {} : { password }),
      ...(token === undefined ? {} : { token }),
    },
    teams: options.team ?? [],
    latency: options.latency ?? 0,
    durations: durations(options.duration ?? []),
    readings: { ...bundledReadings(options.as ?? []), ...readings(options.reading ?? []) },
    headers: headerNames(options.header ?? []),
    ...(options.runScripts === undefined ? {} : { runScripts: options.runScripts }),
    ...(options.scriptTimeout === undefined ? {} : { scriptTimeoutMs: options.scriptTimeout }),
    ...(options.webhookHost === undefined ? {} : { webhooks: { hosts: options.webhookHost } }),
    ...(options.schemaBase === undefined ? {} : { schemaBase: options.schemaBase }),
    ...(io.log === undefined ? {} : { log: io.log }),
  });
  try {
    const { adminToken } = options;
    const address = await sandbox.start({
      host: options.host,
      port: options.port,
      adminPort: options.adminPort,
      ...(adminToken === undefined ? {} : { adminToken }),
    });
    const facts = { ...address, schemaBase: sandbox.schemaBase, data: sandbox.data, ...sandbox.credentials };
    if (options.credentialsFile !== undefined) {
      writePrivateFile(options.credentialsFile, `${JSON.stringify(facts, null, 2)}\n`);
    }
    io.write(greeting(facts));
    await ended(io.signal);
  } finally {
    await sandbox.stop();
  }
}

function greeting(facts: {
  url: string;
  adminUrl: string;
  adminToken: string;
  schemaBase: string;
  data: string;
  email: string;
  password: string | undefined;
  token: string | undefined;
  workspace: string;
  teams: readonly string[];
}): string {
  const rows: [string, string][] = [
    ['service', facts.url],
    ['email', facts.email],
    ['password', facts.password ?? '(as it was; --password counts when the data are made)'],
    ['token', facts.token ?? '(get one with email and password, or by POST /tokens on the admin port)'],
    ['workspaces', [facts.workspace, ...facts.teams].join(', ')],
    ['schema base', facts.schemaBase],
    ['data', facts.data],
    ['admin port', facts.adminUrl],
    ['admin token', facts.adminToken],
  ];
  const lines = rows.map(([name, value]) => `  ${name.padEnd(12)} ${value}`);
  return `The embedded service is up (^C ends it). Credentials are shown once:\n${lines.join('\n')}\n`;
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function pairs(texts: readonly string[], flag: string): [string, string][] {
  return texts.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw new Error(`${flag} ${text}: write it as name=value`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
}

const readings = (texts: readonly string[]): ReadingChoice => Object.fromEntries(pairs(texts, '--reading'));

function headerNames(texts: readonly string[]): HeaderNames {
  const names = { token: [] as string[], release: [] as string[] };
  for (const [kind, name] of pairs(texts, '--header')) {
    if (kind !== 'token' && kind !== 'release') {
      throw new Error(`--header ${kind}=${name}: choose token=NAME or release=NAME`);
    }
    names[kind].push(name);
  }
  return names;
}

function durations(texts: readonly string[]): Partial<Durations> {
  const entries = pairs(texts, '--duration').map(([name, value]): [string, number] => {
    const ms = Number(value);
    if (!Object.hasOwn(DEFAULT_DURATIONS, name)) {
      throw new Error(`--duration ${name}: choose one of ${Object.keys(DEFAULT_DURATIONS).join(', ')}`);
    }
    if (value === '' || !Number.isFinite(ms) || ms < 0) {
      throw new Error(`--duration ${name}=${value}: give milliseconds`);
    }
    return [name, ms];
  });
  return Object.fromEntries(entries);
}
