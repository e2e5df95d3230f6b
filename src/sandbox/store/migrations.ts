const document = (name: string): string =>
  `CREATE TABLE ${name} (id TEXT PRIMARY KEY, doc TEXT NOT NULL) STRICT`;

/** Tables that hold one JSON document per record. */
export const TABLES = [
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

/** Entry n takes a data file from layout n to n + 1 (PRAGMA user_version). Append only. */
export const MIGRATIONS: readonly string[] = [
  [
    ...TABLES.map(document),
    'CREATE TABLE blob_content (id TEXT PRIMARY KEY, content BLOB NOT NULL) STRICT',
  ].join('; '),
];
