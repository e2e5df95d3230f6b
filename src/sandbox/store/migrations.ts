const document = (name: string): string =>
  `CREATE TABLE ${name} (id TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT`;

/** Tables of layout 1 that hold one JSON document per record. */
const FIRST = [
  'settings',
  'accounts',
  'tokens',
  'organizations',
  'workspaces',
  'boxes',
  'revisions',
  'providers',
  'instances',
  'operations',
  'logs',
  'blobs',
  'jobs',
] as const;

/** All of them. */
export const TABLES = [...FIRST, 'provider_logs'] as const;

/** Entry n takes a data file from layout n to n + 1 (PRAGMA user_version). Append only. */
export const MIGRATIONS: readonly string[] = [
  [
    ...FIRST.map(document),
    'CREATE TABLE blob_content (id TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT',
  ].join('; '),
  document('provider_logs'),
];
