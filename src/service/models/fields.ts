import type { Fields } from './parse.ts';
import { anyObject, count, flag, listOf, mapOf, nullable, objectOf, text, word } from './parse.ts';

/** What is relied on of every record. */
const common: Fields = { uri: word, schema: word, name: text, owner: word, created: word, updated: word };

const variables = listOf(
  objectOf({ name: text, type: text, scope: text, required: flag, visibility: word }, 'name'),
);
const members = listOf(objectOf({ workspace: word, role: word }));

export const blobFields: Fields = { length: count, upload_date: word, content_type: nullable(word) };
const event = objectOf({ url: word, ...blobFields, destination_path: text });

const version = objectOf({
  box: word,
  description: text,
  number: objectOf({ major: count, minor: count, patch: count }, 'major', 'minor', 'patch'),
  workspace: word,
});

export const boxFields: Fields = {
  ...common,
  description: text,
  visibility: word,
  automatic_updates: word,
  organization: word,
  variables,
  members,
  requirements: listOf(text),
  claims: listOf(text),
  events: mapOf(event),
  profile: anyObject,
  provider_id: word,
  lifespan: anyObject,
  version,
};

/**
 * What is kept of an entry of a list, by what the list is of. An entry serves to notice change, and to find a record
 * that is then read singly (service-behaviour.md 2.4): the rest of it is let go as soon as it has come.
 */
export const entryParts = {
  boxes: ['id', 'uri', 'schema', 'name', 'owner', 'created', 'updated'],
  versions: ['id', 'version'],
  instances: ['id', 'uri', 'schema', 'name', 'owner', 'created', 'updated', 'state', 'operation', 'tags'],
  operations: ['id', 'created', 'updated', 'state', 'username', 'operation'],
  workspaces: ['id', 'schema', 'name', 'email'],
  providers: ['id', 'name', 'type', 'state'],
} as const satisfies Record<string, readonly string[]>;

const machine = objectOf({ name: word, state: word, address: anyObject });

export const serviceFields: Fields = { type: word, id: word, machines: listOf(machine) };

export const instanceFields: Fields = {
  ...common,
  state: word,
  operation: objectOf({ event: word, workspace: word, created: word }),
  automatic_updates: word,
  variables,
  members,
  tags: listOf(text),
  boxes: listOf(objectOf({ id: word })),
  service: objectOf(serviceFields),
  lease: nullable(objectOf({ operation: word, expire: nullable(word), released: flag })),
};

export const activityFields: Fields = {
  text,
  level: text,
  created: word,
  box: text,
  machine: text,
  event: word,
  exit_code: count,
};

export const operationFields: Fields = {
  ...common,
  username: word,
  instance: word,
  state: word,
  workspace: word,
  activity: listOf(objectOf(activityFields)),
};

export const workspaceFields: Fields = {
  ...common,
  members,
  organizations: listOf(text),
  organization: word,
  email: word,
};

export const providerFields: Fields = {
  ...common,
  type: word,
  description: text,
  state: word,
  organization: word,
  services: listOf(anyObject),
  members,
};
