import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { request } from 'undici';

const SERVE = fileURLToPath(new URL('serve.ts', import.meta.url));
const HEADERS = { 'service-token': 'kill-token', 'content-type': 'application/json' };

interface Acknowledged {
  /** Names of boxes whose POST was answered, by id. */
  boxes: Map<string, string>;
  /** Boxes whose last answered PUT brought this description. */
  descriptions: Map<string, string>;
  /** Uploaded files by url. */
  files: Map<string, string>;
}

/** What a run of kills found. */
export interface KillReport {
  kills: number;
  acknowledged: number;
  /** Acknowledged writes that were gone or older afterwards. */
  lost: string[];
}

async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** One file of everything, so that each of many starts is quick. */
async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'serve.mjs');
  await build({
    entryPoints: [SERVE],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // ajv asks for its parts at run time.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return outfile;
}

async function serve(
  program: string,
  data: string,
  round: number,
): Promise<{ child: ChildProcess; url: string; base: string }> {
  const file = join(data, `credentials-${round}.json`);
  const child = spawn(process.execPath, [program, data, '0', file], { stdio: 'ignore' });
  await waitFor(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('}\n'));
  const facts = JSON.parse(readFileSync(file, 'utf8')) as { url: string; schemaBase: string };
  return { child, url: facts.url, base: facts.schemaBase };
}

/** Kills a sandbox under load with SIGKILL, `kills` times, and compares with what it had answered. */
export async function killUnderLoad(kills: number, random: () => number): Promise<KillReport> {
  const data = mkdtempSync(join(tmpdir(), 'boxwright-kill-'));
  const known: Acknowledged = { boxes: new Map(), descriptions: new Map(), files: new Map() };
  const lost: string[] = [];
  let acknowledged = 0;
  const program = await bundle(data);
  try {
    for (let round = 0; round < kills; round++) {
      const { child, url, base } = await serve(program, data, round);
      lost.push(...(await check(url, known)));
      // The kill comes in the middle of the load, right after a random number of answers.
      const load = { left: 1 + Math.floor(random() * 60), kill: () => child.kill('SIGKILL') };
      const writers = [0, 1, 2, 3].map((n) => write(url, base, `${round}-${n}`, { known, load }));
      acknowledged += (await Promise.all(writers)).reduce((sum, count) => sum + count, 0);
      await waitFor(() => child.exitCode !== null || child.signalCode !== null);
    }
    const { child, url } = await serve(program, data, kills);
    lost.push(...(await check(url, known)));
    child.kill('SIGTERM');
    await waitFor(() => child.exitCode !== null);
    return { kills, acknowledged, lost };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

interface Writing {
  known: Acknowledged;
  load: { left: number; kill: () => void };
}

async function write(url: string, base: string, name: string, { known, load }: Writing): Promise<number> {
  let answered = 0;
  const count = (): void => {
    answered++;
    if (--load.left === 0) load.kill();
  };
  for (let n = 0; ; n++) {
    try {
      const box = { schema: `${base}/boxes/script`, name: `${name}-${n}`, requirements: [] };
      const created = await json(url, 'POST', '/services/boxes', box);
      known.boxes.set(created.id, box.name);
      count();
      const description = `changed ${name}-${n}`;
      await json(url, 'PUT', `/services/boxes/${created.id}`, { description });
      known.descriptions.set(created.id, description);
      count();
      const file = await json(url, 'POST', `/services/blobs/upload/${name}-${n}`, { text: description });
      known.files.set(file.url, JSON.stringify({ text: description }));
      count();
    } catch {
      // The kill: what was not answered may or may not be there.
      return answered;
    }
  }
}

async function json(
  url: string,
  method: 'POST' | 'PUT',
  path: string,
  body: object,
): Promise<{ id: string; url: string }> {
  const answer = await request(url + path, { method, headers: HEADERS, body: JSON.stringify(body) });
  const text = await answer.body.text();
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`);
  return JSON.parse(text) as { id: string; url: string };
}

async function check(url: string, known: Acknowledged): Promise<string[]> {
  const answer = await request(`${url}/services/boxes`, { headers: HEADERS });
  const boxes = (await answer.body.json()) as { id: string; name: string; description: string }[];
  const found = new Map(boxes.map((box) => [box.id, box]));
  const lost: string[] = [];
  for (const [id, name] of known.boxes) if (found.get(id)?.name !== name) lost.push(`box ${name}`);
  for (const [id, text] of known.descriptions) {
    if (found.get(id)?.description !== text) lost.push(`description ${text}`);
  }
  // Each file once: they never change.
  for (const [path, text] of known.files) {
    const file = await request(url + path, { headers: HEADERS });
    if ((await file.body.text()) !== text) lost.push(`file ${path}`);
    known.files.delete(path);
  }
  return lost;
}
