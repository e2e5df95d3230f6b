import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Identity } from './comparison.ts';
import { IDENTITY, LOG, makeRightsFolder } from './folder.ts';
import { judgeRights } from './verdict.ts';

const USER = 'system:serviceaccount:home:operator';
const GET: Identity['grants'][number] = {
  scope: 'watched',
  namespace: 'shop',
  apiGroup: '',
  resource: 'secrets',
  verb: 'get',
};
const IDENTITY_OF_TESTS: Identity = {
  user: USER,
  mode: 'scoped',
  grants: [GET, { ...GET, verb: 'list' }],
  roles: { namespaces: ['home', 'shop'], clusterWide: [] },
};

let scratch: string;
let folder: string;
let log: string;
let printed: string;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'boxwright-verdict-'));
  folder = makeRightsFolder(scratch);
  log = join(scratch, 'audit.log');
  printed = '';
  writeFileSync(log, '');
  writeFileSync(join(folder, `home${IDENTITY}`), JSON.stringify(IDENTITY_OF_TESTS));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function line(verb: string, decision: string, user = USER): string {
  const objectRef = { resource: 'secrets', namespace: 'shop' };
  const annotations = { 'authorization.k8s.io/decision': decision };
  const requestURI = '/api/v1/namespaces/shop/secrets';
  const at = { requestReceivedTimestamp: '2026-01-01T00:00:00Z' };
  return `${JSON.stringify({ verb, requestURI, user: { username: user }, objectRef, annotations, ...at })}\n`;
}

function judge(whole: boolean): Promise<void> {
  return judgeRights({ folder, auditLogPath: log, whole, print: (text) => (printed += text) });
}

describe('the end of a run', () => {
  it('fails for one denied request of an operator, whatever ran', async () => {
    appendFileSync(
      log,
      line('get', 'allow') + line('watch', 'forbid') + line('delete', 'forbid', 'somebody'),
    );
    await expect(judge(false)).rejects.toMatchObject({
      code: 'RightsDiffer',
      message: expect.stringContaining(`denied, scoped: ${USER}: watch /api/v1/`) as string,
    });
    expect(printed).toMatch(/scoped +1 +2 +2 +1 +1 +1$/);
  });

  it('fails for a right that nothing used, but only when all ran that should use it', async () => {
    appendFileSync(log, line('get', 'allow'));
    await judge(false);
    await expect(judge(true)).rejects.toThrow('granted and not used, scoped: watched secrets list');
  });

  it('is content when logs together have every right, those of further control planes too', async () => {
    appendFileSync(log, line('get', 'allow'));
    writeFileSync(join(folder, `other${LOG}`), line('list', 'allow'));
    await judge(true);
    expect(printed).toMatch(/scoped +1 +2 +2 +2 +0 +0$/);
  });
});
