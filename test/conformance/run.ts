import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Client } from './client.ts';
import { freshSandbox } from './fresh.ts';
import { compare, INVENTORY } from './inventory.ts';
import { statementsOf } from './statements.ts';
import { runSuite, summary, type Result } from './suite.ts';
import { World, type Cast } from './world.ts';

const HELP = `Compares a service with the interface document, over HTTP.

  --base-url URL           the service; without it, a fresh embedded one is started
  --email, --password      a user who administers its organization (or --token)
  --member-token TOKEN     another user of that organization; rows that need one are skipped otherwise
  --outsider-token TOKEN   a user of another organization
  --read-only              only rows that change nothing, for real installations
  --inventory              prints the inventory and ends
  --document FILE          compares the inventory with the interface document and ends
`;

const { values } = parseArgs({
  options: {
    'base-url': { type: 'string' },
    email: { type: 'string' },
    password: { type: 'string' },
    token: { type: 'string' },
    'member-token': { type: 'string' },
    'outsider-token': { type: 'string' },
    'read-only': { type: 'boolean', default: false },
    inventory: { type: 'boolean', default: false },
    document: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const print = (text: string): void => void process.stdout.write(`${text}\n`);

if (values.help) print(HELP);
else if (values.inventory) printInventory();
else if (values.document !== undefined) compareWith(values.document);
else await runAll();

function printInventory(): void {
  for (const entry of INVENTORY) {
    const kind = entry.untestable !== undefined ? 'untestable' : entry.reads === true ? 'reads' : 'writes';
    print(`${entry.section.padEnd(5)} ${kind.padEnd(10)} ${entry.says}`);
  }
  print(`${INVENTORY.length} rows`);
}

function compareWith(path: string): void {
  const statements = statementsOf(readFileSync(path, 'utf8'));
  const { unmapped, unknown } = compare(statements);
  for (const entry of unmapped) print(`unmapped: ${entry.section} ${entry.mark} ${entry.text}`);
  for (const mark of unknown) print(`no statement has the mark ${mark}`);
  print(`${statements.length} statements, ${unmapped.length} unmapped`);
  process.exitCode = unmapped.length + unknown.length === 0 ? 0 : 1;
}

async function runAll(): Promise<void> {
  const url = values['base-url'];
  const fresh = url === undefined ? await freshSandbox() : undefined;
  const world = new World(fresh?.cast ?? (await castOf(url ?? '')));
  const results = await runSuite(world, { readOnly: values['read-only'], report });
  print(summary(results));
  await fresh?.stop();
  process.exitCode = results.some((result) => result.outcome === 'failed') ? 1 : 0;
}

function report({ row, outcome, reason }: Result): void {
  const why = reason === '' ? '' : `: ${reason.split('\n')[0]}`;
  print(`${outcome.padEnd(10)} ${row.section.padEnd(5)} ${row.says}${why}`);
}

async function castOf(url: string): Promise<Cast> {
  const { email, password, token } = values;
  const baseUrl = url.replace(/\/+$/, '');
  const member = values['member-token'];
  const outsider = values['outsider-token'];
  return {
    main: await Client.login(baseUrl, {
      ...(email === undefined ? {} : { email }),
      ...(password === undefined ? {} : { password }),
      ...(token === undefined ? {} : { token }),
    }),
    ...(member === undefined ? {} : { member: new Client(baseUrl, member) }),
    ...(outsider === undefined ? {} : { outsider: new Client(baseUrl, outsider) }),
    ...(email === undefined || password === undefined ? {} : { credentials: { email, password } }),
  };
}
