import type { Fields } from './parse.ts';
import { anyObject, count, flag, listOf, mapOf, nullable, objectOf, text } from './parse.ts';

/** What is relied on of every record. */
const common: Fields = { uri: text, schema: text, name: text, owner: text, created: text, updated: text };

const variables = listOf(
  objectOf({ name: text, type: text, scope: text, required: flag, visibility: text }, 'name'),
);
const members = listOf(objectOf({ workspace: text, role: text }));

export const blobFields: Fields = { length: count, upload_date: text, content_type: nullable(text) };
const event = objectOf({ url: text, ...blobFields, destination_path: text });

const version = objectOf({
  box: text,
  description: text,
  number: objectOf({ major: count, minor: count, patch: count }, 'major', 'minor', 'patch'),
  workspace: text,
});

export const boxFields: Fields = {
  ...common,
  description: text,
  visibility: text,
  automatic_updates: text,
  organization: text,
  variables,
  members,
  requirements: listOf(text),
  claims: listOf(text),
  events: mapOf(event),
  profile: anyObject,
  provider_id: text,
  lifespan: anyObject,
  version,
};

/**
 * What is kept of an entry of a list, by what the list is of. An entry serves to notice change, and to find a record
 * that is then read singly (service-behaviour.md 2.4): the rest of it is let go as soon as it has come.
 */
export const entryParts = {
  boxes: ['id', 'uri', 'schema', 'name', 'owner', 'created', 'updated'],
  instances: ['id', 'uri', 'schema', 'name', 'owner', 'created', 'updated', 'state', 'operation', 'tags'],
  operations: ['id', 'created', 'updated', 'state', 'username', 'operation'],
  workspaces: ['id', 'schema', 'name', 'email'],
  providers: ['id', 'name', 'type', 'state'],
} as const satisfies Record<string, readonly string[]>;

const machine = objectOf({ name: text, state: text, address: anyObject });

export const serviceFields: Fields = { type: text, id: text, machines: listOf(machine) };

export const instanceFields: Fields = {
  ...common,
  state: text,
  operation: objectOf({ event: text, workspace: text, created: text }),
  automatic_updates: text,
  variables,
  members,
  tags: listOf(text),
  boxes: listOf(objectOf({ id: text })),
  service: objectOf(serviceFields),
  lease: nullable(objectOf({ operation: text, expire: nullable(text), released: flag })),
};

export const activityFields: Fields = {
  text,
  level: text,
  created: text,
  box: text,
  machine: text,
  event: text,
  exit_code: count,
};

export const operationFields: Fields = {
  ...common,
  username: text,
  instance: text,
  state: text,
  workspace: text,
  activity: listOf(objectOf(activityFields)),
};

export const workspaceFields: Fields = {
  ...common,
  members,
  organizations: listOf(text),
  organization: text,
  email: text,
};

export const providerFields: Fields = {
  ...common,
  type: text,
  description: text,
  state: text,
  organization: text,
  services: listOf(anyObject),
  members,
};
