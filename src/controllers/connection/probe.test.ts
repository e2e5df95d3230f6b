import { describe, expect, it } from 'vitest';
import { ConnectionKind, type Connection } from '../../api/connection.ts';
import {
  ServiceError,
  type Read,
  type ServiceClient,
  type ServiceErrorCode,
  type WorkspaceRecord,
} from '../../service/index.ts';
import { probe, type ProbeOutcome } from './probe.ts';

const SCHEMA = 'https://schemas.example.com/v4';

const workspace = (id: string, type = 'team', more: object = {}): WorkspaceRecord => ({
  id,
  schema: `${SCHEMA}/workspaces/${type}`,
  ...more,
});
const ME = workspace('operations', 'personal', { email: 'ops@example.com' });

function specWith(spec: object): Connection['spec'] {
  const parsed = ConnectionKind.parse({
    apiVersion: 'boxwright.dev/v1alpha1',
    kind: 'Connection',
    metadata: {
      name: 'main',
      namespace: 'shop',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-28T00:00:00Z',
    },
    spec: { endpoint: 'https://service.test', credentialsRef: { name: 'login' }, ...spec },
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.resource.spec;
}

function probeOf(read: Read<readonly WorkspaceRecord[]>, spec: object = {}): Promise<ProbeOutcome> {
  const client = { workspaces: { list: () => Promise.resolve(read) } } as unknown as ServiceClient;
  return probe(client, specWith(spec), new AbortController().signal);
}
const found = (...record: WorkspaceRecord[]): Read<readonly WorkspaceRecord[]> => ({
  kind: 'found',
  record,
  startedAt: 0,
});

async function failing(
  code: ServiceErrorCode,
  more: object = {},
): Promise<Extract<ProbeOutcome, { kind: 'not' }>> {
  const error = new ServiceError({ code, method: 'GET', template: '/services/workspaces', ...more });
  const outcome = await probeOf({ kind: 'unknown', error });
  if (outcome.kind !== 'not') throw new Error('it is ready');
  return outcome;
}

describe('a service that answers', () => {
  it('makes the personal workspace the owner, and tells the schema base', async () => {
    expect(await probeOf(found(workspace('shop-team'), ME))).toEqual({
      kind: 'ready',
      workspace: 'operations',
      schemaBase: SCHEMA,
      email: 'ops@example.com',
      user: 'operations',
    });
  });

  it('is used with the workspace and the schema base that the spec names', async () => {
    const spec = { workspace: 'shop-team', schemaBase: 'https://other.example.com/v5' };
    expect(await probeOf(found(workspace('shop-team'), ME), spec)).toMatchObject({
      workspace: 'shop-team',
      schemaBase: 'https://other.example.com/v5',
      user: 'operations',
    });
  });

  it('needs the user where the workspace cannot be told, and names those that are visible', async () => {
    const two = await probeOf(found(workspace('me', 'personal'), workspace('also-me', 'personal')));
    expect(two).toMatchObject({
      kind: 'not',
      letIn: true,
      verdict: {
        reason: 'NeedsUser',
        message: expect.stringContaining('set spec.workspace to one of also-me, me'),
      },
    });
    expect(await probeOf(found(workspace('shop-team')))).toMatchObject({
      verdict: { message: expect.stringMatching(/^No personal workspace is visible/) },
    });
    expect(await probeOf(found(ME), { workspace: 'shop-team' })).toMatchObject({
      verdict: {
        message: expect.stringMatching(
          /"shop-team" is not visible .* correct spec\.workspace; visible are operations$/,
        ),
      },
    });
    const many = Array.from({ length: 12 }, (_, at) => workspace(`team-${at}`));
    expect(await probeOf(found(...many))).toMatchObject({
      verdict: { message: expect.stringMatching(/, …$/) },
    });
  });

  it('needs the user where no record tells the schema base, an empty list included', async () => {
    const wanted = {
      verdict: { reason: 'NeedsUser', message: expect.stringContaining('set spec.schemaBase') },
    };
    expect(await probeOf(found({ id: 'operations' }))).toMatchObject(wanted);
    expect(await probeOf(found())).toMatchObject(wanted);
    expect(await probeOf(found(), { schemaBase: SCHEMA })).toMatchObject({
      verdict: { message: expect.stringContaining('set spec.workspace to one of none') },
    });
  });
});

describe('a service that does not', () => {
  it('is said to have refused the credentials only where it has', async () => {
    expect(await failing('CredentialsRejected', { status: 401 })).toMatchObject({
      reached: true,
      letIn: false,
      verdict: { reason: 'CredentialsRejected', message: expect.stringContaining('into the Secret') },
    });
    expect(await failing('Forbidden', { status: 403 })).toMatchObject({ letIn: false });
    for (const code of [
      'Throttled',
      'BadAnswer',
      'TooLarge',
      'BadRequest',
      'Redirected',
      'Tls',
      'ServerError',
      'Timeout',
    ] as const) {
      expect([code, (await failing(code)).letIn]).toEqual([code, undefined]);
    }
    expect(await probeOf({ kind: 'missing', startedAt: 0 })).toMatchObject({
      reached: true,
      letIn: undefined,
    });
  });

  it('is told by what can be done about it', async () => {
    expect((await failing('Tls')).verdict.message).toContain('spec.tls.caRef');
    expect((await failing('Redirected')).verdict.message).toContain('correct spec.endpoint');
    expect((await failing('NotAllowed')).verdict).toMatchObject({ reason: 'NeedsUser' });
    expect((await failing('BadAnswer')).verdict.message).toContain('check spec.endpoint');
    expect(await probeOf({ kind: 'missing', startedAt: 0 })).toMatchObject({
      verdict: { reason: 'Unknown', message: expect.stringContaining('check spec.endpoint') },
    });
  });

  it('is tried again after what it asks for, or when the ledger says', async () => {
    expect((await failing('Throttled', { retryAfterMs: 42_000 })).verdict).toMatchObject({
      reason: 'Throttled',
      recheckAfterMs: 42_000,
    });
    const { verdict } = await failing('Unreachable');
    expect(verdict.reason).toBe('ServiceUnavailable');
    expect(verdict.recheckAfterMs).toBeUndefined();
  });
});
