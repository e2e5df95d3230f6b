import type { Connection } from '../../api/connection.ts';
import type { ServiceClient, WorkspaceRecord } from '../../service/index.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';

/** What looking at a service with a credential brings. */
export type ProbeOutcome =
  | {
      kind: 'ready';
      workspace: string;
      schemaBase: string;
      email: string | undefined;
      /** Id of the account's personal workspace, where exactly one is visible. */
      user: string | undefined;
    }
  /** `letIn`: undefined where the answer says nothing about the credentials. */
  | {
      kind: 'not';
      verdict: Verdict;
      reached: boolean;
      letIn: boolean | undefined;
      /** It speaks of the credentials alone (401), not of what they may do. */
      isUnauthorized?: boolean;
    };

/** Where a workspace record's schema begins to speak of workspaces (interface document section 2.9). */
const SCHEMA_ENDS = { personal: '/workspaces/personal', team: '/workspaces/team' } as const;
/** The longest address that status.home can hold, characters. */
const ACCOUNT_LIMIT = 320;

/** Logs in, lists the workspaces, and finds the one that owns new records and the schema base. */
export async function probe(
  client: ServiceClient,
  spec: Connection['spec'],
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const read = await client.workspaces.list({ signal });
  if (read.kind === 'missing') {
    return not(
      verdict('Unknown', 'The endpoint knows no workspaces (404): check spec.endpoint'),
      true,
      undefined,
    );
  }
  if (read.kind === 'unknown') {
    const { code, message, retryAfterMs } = read.error;
    switch (code) {
      case 'CredentialsRejected':
      case 'CredentialsUnusable':
        return {
          ...not(
            verdict(
              'CredentialsRejected',
              `${message}: put valid credentials into the Secret "${spec.credentialsRef.name}"`,
            ),
            true,
            false,
          ),
          isUnauthorized: true,
        };
      case 'Forbidden':
        return not(
          verdict('CredentialsRejected', `${message}: the account may not list workspaces`),
          true,
          false,
        );
      case 'Tls':
        return not(
          verdict('ServiceUnavailable', `${message}: set spec.tls.caRef, or mend the certificate`),
          false,
          undefined,
        );
      case 'NotAllowed':
      case 'Redirected':
        return not(
          verdict('NeedsUser', `${message}: correct spec.endpoint`),
          code === 'Redirected',
          undefined,
        );
      case 'BadAnswer':
      case 'TooLarge':
      case 'BadRequest':
        return not(verdict('Unknown', `${message}: check spec.endpoint`), true, undefined);
      case 'Throttled':
        return not(verdict('Throttled', message, retryAfterMs), true, undefined);
      default:
        return not(
          verdict('ServiceUnavailable', `${message}: spec.endpoint is ${spec.endpoint}`, retryAfterMs),
          false,
          undefined,
        );
    }
  }
  return fromWorkspaces(read.record, spec);
}

function fromWorkspaces(records: readonly WorkspaceRecord[], spec: Connection['spec']): ProbeOutcome {
  const personal = records.filter((record) => schemaOf(record)?.kind === 'personal');
  const schemaBase = spec.schemaBase === '' ? learnt(records) : spec.schemaBase;
  if (schemaBase === undefined) {
    return not(
      verdict('NeedsUser', 'No workspace record tells the schema base: set spec.schemaBase'),
      true,
      true,
    );
  }
  const [own] = personal.length === 1 ? personal : [];
  const account = { email: own?.email, user: own?.id };
  if (spec.workspace !== '') {
    if (records.some((record) => record.id === spec.workspace)) {
      return { kind: 'ready', workspace: spec.workspace, schemaBase, ...account };
    }
    return not(
      verdict(
        'NeedsUser',
        `Workspace "${spec.workspace}" is not visible with these credentials: correct spec.workspace; ` +
          `visible are ${listed(records)}`,
      ),
      true,
      true,
    );
  }
  const [only, ...more] = personal;
  if (only !== undefined && more.length === 0) {
    return { kind: 'ready', workspace: only.id, schemaBase, ...account };
  }
  return not(
    verdict(
      'NeedsUser',
      `${only === undefined ? 'No' : 'More than one'} personal workspace is visible: set spec.workspace to one of ` +
        listed(records),
    ),
    true,
    true,
  );
}

/** What tells the account from others: its address where it fits status, or else the id of its workspace. */
export function accountOf({
  email,
  user,
}: {
  email: string | undefined;
  user: string | undefined;
}): string | undefined {
  return email !== undefined && email !== '' && email.length <= ACCOUNT_LIMIT ? email : user;
}

function not(
  said: Verdict,
  reached: boolean,
  letIn: boolean | undefined,
): Extract<ProbeOutcome, { kind: 'not' }> {
  return { kind: 'not', verdict: said, reached, letIn };
}

/** Whether a workspace is a person's or a team's, and what its schema begins with. */
function schemaOf({ schema }: WorkspaceRecord): { kind: keyof typeof SCHEMA_ENDS; base: string } | undefined {
  for (const kind of ['personal', 'team'] as const) {
    const end = SCHEMA_ENDS[kind];
    if (schema?.endsWith(end) === true) return { kind, base: schema.slice(0, -end.length) };
  }
  return undefined;
}

function learnt(records: readonly WorkspaceRecord[]): string | undefined {
  for (const record of records) {
    const { base = '' } = schemaOf(record) ?? {};
    if (base !== '') return base;
  }
  return undefined;
}

function listed(records: readonly WorkspaceRecord[]): string {
  const ids = records.map((record) => record.id).toSorted();
  return ids.length === 0 ? 'none' : ids.slice(0, 10).join(', ') + (ids.length > 10 ? ', …' : '');
}
