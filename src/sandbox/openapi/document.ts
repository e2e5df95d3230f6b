import type { TSchema } from 'typebox';
import { BoxAnswer } from '../boxes/schemas.ts';
import type { Route } from '../edge/route.ts';
import { InstanceAnswer, InstanceEntry, OperationAnswer } from '../instances/schemas.ts';
import { OrganizationAnswer } from '../organizations/schemas.ts';
import { ProviderAnswer } from '../providers/schemas.ts';
import { FailureAnswer, Variable } from '../schemas.ts';
import { EXAMPLES } from './examples.ts';

/** Schemas that get a name of their own in the description. */
const COMPONENTS: Readonly<Record<string, TSchema>> = {
  Box: BoxAnswer,
  Instance: InstanceAnswer,
  InstanceEntry,
  InstanceOperation: OperationAnswer,
  Organization: OrganizationAnswer,
  Provider: ProviderAnswer,
  Variable,
  Failure: FailureAnswer,
};

/** Path parameters that are not just any text. */
const PARAMETERS: Readonly<Record<string, object>> = {
  file_id: { pattern: '^[0-9a-f]{24}$', examples: ['0123456789abcdef01234567'] },
};

/** Codes that every endpoint can answer, beside those that the interface document names for it. */
export const COMMON_CODES: Readonly<Record<number, string>> = {
  400: 'The request is not valid: `message` names the field',
  401: 'No token, or one that is not valid',
  403: 'Not shared with the caller',
  404: 'What the path names is not there',
  405: 'The method is not possible here',
  413: 'The body is too long',
  429: 'Too many requests; only on demand',
  500: 'The service failed',
};

const CODES: Readonly<Record<number, string>> = {
  ...COMMON_CODES,
  401: 'Invalid Username/Password, or a token that is missing or not valid',
  409: 'The state does not allow it, or the name is taken',
};

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 description of the routes, made of the schemas that requests are validated with. */
export function openApi(routes: readonly Route[]): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Cloud Deployment Automation service (embedded)',
      version: '4.0',
      description:
        'The embedded service of Boxwright. Requests carry the headers Service-Token and Service-Release.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { cookie: [] }, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'Service-Token' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'token' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: Object.fromEntries(
        Object.entries(COMPONENTS).map(([name, schema]) => [name, plain(schema, schema)]),
      ),
    },
  };
}

function operation(route: Route): Json {
  const key = `${route.method} ${route.path}`;
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [route.path.split('/')[2] ?? 'service'],
    ...(route.open === true ? { security: [] } : {}),
    parameters: parameters(route),
    ...requestBody(route, EXAMPLES[key]),
    responses: responses(route),
  };
}

/** `getBoxes`, `putInstancesShutdown`, … */
function operationId(route: Route): string {
  const words = route.path
    .replaceAll(/[{}]/g, ' ')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '' && word !== 'services');
  const name = words.map((word) => (word[0] ?? '').toUpperCase() + word.slice(1)).join('');
  return route.method.toLowerCase() + (name === '' ? 'Root' : name);
}

function parameters(route: Route): Json[] {
  const path = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string', ...(PARAMETERS[match[1] ?? ''] ?? { minLength: 1 }) },
  }));
  const query = (route.query ?? []).map((name) => ({
    name,
    in: 'query',
    required: false,
    schema: { type: 'string' },
    ...(name === 'ids' ? { description: 'ids, separated by commas' } : {}),
  }));
  const release = {
    name: 'Service-Release',
    in: 'header',
    required: false,
    schema: { type: 'string', examples: ['4.0'] },
  };
  return [...path, ...query, release];
}

function requestBody(route: Route, example: unknown): Json {
  if (route.body === undefined) return {};
  if (route.body === 'bytes') {
    const content = { 'application/octet-stream': {} };
    const form = {
      'multipart/form-data': {
        schema: {
          type: 'object',
          required: ['blob'],
          // Without a type: any bytes are a file.
          properties: { blob: { contentMediaType: 'application/octet-stream' } },
        },
      },
    };
    return { requestBody: { required: true, content: route.path.endsWith('}') ? content : form } };
  }
  const schema =
    route.variants === undefined ? plain(route.body) : { anyOf: route.variants.map((body) => plain(body)) };
  const media = { schema, ...(example === undefined ? {} : { example }) };
  return { requestBody: { required: route.bodyOptional !== true, content: { 'application/json': media } } };
}

/** Every code with its body: those that the interface names, and the common ones. */
function responses(route: Route): Json {
  const all: Json = {};
  for (const code of successCodes(route)) {
    const content =
      route.answer !== undefined
        ? { content: { 'application/json': { schema: plain(route.answer) } } }
        : route.text === undefined
          ? {}
          : { content: { [route.text]: {} } };
    all[String(code)] = { description: 'Success', ...content };
  }
  const failure = { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } };
  for (const code of new Set([...route.errors, ...Object.keys(COMMON_CODES).map(Number)])) {
    all[String(code)] = { description: CODES[code] ?? 'Error', content: failure };
  }
  return all;
}

/** The success codes of a route: the interface's, and those of other readings. */
export function successCodes(route: Route): number[] {
  return [...new Set([route.success, ...(route.alsoSuccess ?? [])])];
}

/** A schema as plain JSON, named parts by reference; `self` is the one being defined. */
function plain(schema: unknown, self?: TSchema): unknown {
  if (Array.isArray(schema)) return schema.map((item) => plain(item));
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema !== self) {
    const named = Object.entries(COMPONENTS).find(([, component]) => component === schema);
    if (named !== undefined) return { $ref: `#/components/schemas/${named[0]}` };
  }
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => !key.startsWith('~'))
      .map(([key, value]) => [key, plain(value)]),
  );
}
