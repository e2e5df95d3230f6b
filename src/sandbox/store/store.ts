import type {
  AccountDoc,
  BlobDoc,
  BoxDoc,
  InstanceDoc,
  JobDoc,
  LogDoc,
  OperationDoc,
  OrganizationDoc,
  ProviderDoc,
  ProviderLogDoc,
  RevisionDoc,
  SettingDoc,
  TokenDoc,
  WorkspaceDoc,
} from '../model.ts';
import { blobsOfBox, blobsOfVariables } from '../blobs/references.ts';
import { BlobContent } from './blob-content.ts';
import { Database } from './database.ts';
import { Table } from './table.ts';

const members = (doc: { members: readonly { workspace: string }[] }): string[] =>
  doc.members.map((member) => member.workspace);

/** All the state of the service. */
export class Store {
  readonly database: Database;
  readonly settings: Table<SettingDoc>;
  readonly accounts: Table<AccountDoc>;
  readonly tokens: Table<TokenDoc>;
  readonly organizations: Table<OrganizationDoc>;
  readonly workspaces: Table<WorkspaceDoc>;
  readonly boxes: Table<BoxDoc>;
  readonly revisions: Table<RevisionDoc>;
  readonly providers: Table<ProviderDoc>;
  readonly instances: Table<InstanceDoc>;
  readonly operations: Table<OperationDoc>;
  readonly logs: Table<LogDoc>;
  readonly blobs: Table<BlobDoc>;
  readonly jobs: Table<JobDoc>;
  readonly provider_logs: Table<ProviderLogDoc>;
  readonly content: BlobContent;

  /** @param data a directory or `:memory:` */
  constructor(data: string) {
    const database = new Database(data);
    this.database = database;
    this.settings = new Table(database, 'settings');
    this.accounts = new Table<AccountDoc>(database, 'accounts', {
      email: (doc) => [doc.email],
      workspace: (doc) => [doc.workspace],
    });
    this.tokens = new Table<TokenDoc>(database, 'tokens', { account: (doc) => [doc.account] });
    this.organizations = new Table(database, 'organizations');
    this.workspaces = new Table<WorkspaceDoc>(database, 'workspaces', {
      owner: (doc) => [doc.owner],
      member: members,
    });
    this.boxes = new Table<BoxDoc>(database, 'boxes', {
      owner: (doc) => [doc.owner],
      member: members,
      visibility: (doc) => [doc.visibility],
      base: (doc) => (doc.version === undefined ? [] : [doc.version.box]),
      blob: blobsOfBox,
    });
    this.revisions = new Table<RevisionDoc>(database, 'revisions', { blob: (doc) => blobsOfBox(doc.box) });
    this.providers = new Table<ProviderDoc>(database, 'providers', {
      owner: (doc) => [doc.owner],
      member: members,
    });
    this.instances = new Table<InstanceDoc>(database, 'instances', {
      owner: (doc) => [doc.owner],
      member: members,
      box: (doc) => [doc.box],
      service: (doc) => [doc.service.id],
      revision: (doc) => [...new Set([...doc.stack, doc.policy])],
      blob: (doc) => blobsOfVariables(doc.variables),
    });
    this.operations = new Table<OperationDoc>(database, 'operations', { instance: (doc) => [doc.instance] });
    this.logs = new Table<LogDoc>(database, 'logs', { instance: (doc) => [doc.instance] });
    this.blobs = new Table(database, 'blobs');
    this.jobs = new Table(database, 'jobs');
    this.provider_logs = new Table<ProviderLogDoc>(database, 'provider_logs', {
      provider: (doc) => [doc.provider_id],
    });
    this.content = new BlobContent(database);
  }

  close(): void {
    this.database.close();
  }
}
