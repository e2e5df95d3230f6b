/** What the service shows that no schema of ours expects. */
export type Oddity =
  | 'machines of one name'
  | 'a machine without a name'
  | 'very long texts'
  | 'empty emails and provider names'
  | 'nulls where texts belong'
  | 'texts cut inside a character'
  | 'states that nobody knows'
  | 'events that nobody knows'
  | 'instances without an operation'
  | 'tags that are no list'
  | 'variables twice';

type Json = Record<string, unknown>;

/** What each makes of an answer to a GET. */
export const ODDITIES: Readonly<Record<Oddity, (body: unknown, text: string) => unknown>> = {
  'machines of one name': (body) => machines(body, (list) => [...list, ...list]),
  'a machine without a name': (body) => machines(body, (list) => list.map((one) => ({ ...one, name: '' }))),
  'very long texts': (body) =>
    machines(texts(body, 'email', 'x'.repeat(5_000)), (list) =>
      list.map((one) => ({ ...one, state: 'y'.repeat(5_000), address: { public: 'z'.repeat(5_000) } })),
    ),
  'empty emails and provider names': (body, text) =>
    /workspaces|providers/.test(text) && !/\/(instances|boxes)/.test(text)
      ? texts(texts(body, 'email', ''), 'name', '')
      : body,
  'nulls where texts belong': (body, text) =>
    /workspaces|providers/.test(text) && !/\/(instances|boxes)/.test(text)
      ? texts(body, 'email', null)
      : body,
  'texts cut inside a character': (body) =>
    machines(body, (list) => list.map((one) => ({ ...one, state: `${'\u{1f600}'.repeat(200)}\ud83d` }))),
  'states that nobody knows': (body) => instances(body, () => ({ state: 'hibernating' })),
  'events that nobody knows': (body) =>
    instances(body, ({ operation }) => ({ operation: { ...(operation as Json), event: 'teleport' } })),
  'instances without an operation': (body) => instances(body, () => ({ operation: undefined })),
  'tags that are no list': (body) => instances(body, ({ tags }) => ({ tags: String(tags) })),
  'variables twice': (body) =>
    instances(body, ({ variables }) => ({
      variables: [...((variables ?? []) as Json[]), ...((variables ?? []) as Json[])],
    })),
};

/** Instances are what has a service and an operation; boxes have neither. */
function instances(body: unknown, change: (record: Json) => Json): unknown {
  if (Array.isArray(body)) return body.map((entry) => instances(entry, change));
  if (body === null || typeof body !== 'object') return body;
  const record = body as Json;
  return 'operation' in record && 'state' in record ? { ...record, ...change(record) } : record;
}

function machines(body: unknown, change: (list: Json[]) => Json[]): unknown {
  if (Array.isArray(body)) return body.map((entry) => machines(entry, change));
  if (body === null || typeof body !== 'object') return body;
  const record = body as Json;
  return Array.isArray(record['machines'])
    ? { ...record, machines: change(record['machines'] as Json[]) }
    : record;
}

function texts(body: unknown, member: string, value: unknown): unknown {
  if (Array.isArray(body)) return body.map((entry) => texts(entry, member, value));
  if (body === null || typeof body !== 'object') return body;
  return member in body ? { ...body, [member]: value } : body;
}
