import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../support/run.ts';

/** One repository, served on loopback by git's own `http-backend`. */
export class GitServer implements AsyncDisposable {
  readonly url: string;
  readonly #folder: string;
  readonly #close: () => Promise<void>;

  private constructor(folder: string, url: string, close: () => Promise<void>) {
    this.#folder = folder;
    this.url = url;
    this.#close = close;
  }

  static async start(): Promise<GitServer> {
    const folder = mkdtempSync(join(tmpdir(), 'boxwright-git-'));
    await git(folder, 'init', '--quiet', '--initial-branch=main', 'work');
    await git(folder, 'clone', '--quiet', '--bare', 'work', 'deploy.git');
    const server = createServer((request, response) => answer(folder, request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    return new GitServer(folder, `http://127.0.0.1:${port}/deploy.git`, async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
  }

  /** Pushes one commit that writes these files; `null` takes one away. Answers the commit. */
  async commit(files: Readonly<Record<string, string | null>>): Promise<string> {
    const work = join(this.#folder, 'work');
    for (const [name, text] of Object.entries(files)) {
      const path = join(work, name);
      if (text === null) rmSync(path, { recursive: true, force: true });
      else {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, text);
      }
    }
    await git(work, 'add', '--all');
    await git(work, '-c', 'user.name=ops', '-c', 'user.email=ops@example.com', 'commit', '-qm', 'Change');
    await git(work, 'push', '--quiet', join(this.#folder, 'deploy.git'), 'main');
    return (await git(work, 'rev-parse', 'HEAD')).trim();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await run('git', args, { cwd });
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The environment and the header that RFC 3875 and git-http-backend(1) want. */
function answer(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      CONTENT_LENGTH: request.headers['content-length'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.once('close', () => {
    const whole = Buffer.concat(chunks);
    const end = whole.indexOf('\r\n\r\n');
    const headers = whole
      .subarray(0, Math.max(end, 0))
      .toString('latin1')
      .split('\r\n')
      .map((line): [string, string] => [
        line.slice(0, line.indexOf(':')),
        line.slice(line.indexOf(':') + 1).trim(),
      ]);
    const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200';
    response.writeHead(
      end === -1 ? 500 : Number.parseInt(status, 10),
      Object.fromEntries(headers.filter(([name]) => name !== 'Status' && name !== '')),
    );
    response.end(whole.subarray(end + 4));
  });
}
