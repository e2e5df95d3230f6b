import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { ok, startFixture, type Fixture } from '../../src/sandbox/fixture.ts';
import { TEST_PROVIDER_ID } from '../../src/sandbox/index.ts';

interface Schema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maxItems?: number;
  $ref?: string;
}

interface Operation {
  parameters: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema?: Schema }> };
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>;
}

export interface Description {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** What a run found: answers outside the description. */
export interface RunReport {
  cases: number;
  statuses: Record<string, number>;
  findings: string[];
}

const pointer = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');

/** Calls every operation with valid and invalid inputs and compares the answers with the description. */
export async function runAgainst(
  description: Description,
  casesPerOperation: number,
  prepare: (fixture: Fixture) => void = () => undefined,
): Promise<RunReport> {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: false });
  ajv.addSchema(description, 'd');
  const report: RunReport = { cases: 0, statuses: {}, findings: [] };
  for (const [path, operations] of Object.entries(description.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      await runOperation({ ajv, description, report, path, method, operation }, casesPerOperation, prepare);
    }
  }
  return report;
}

interface Subject {
  ajv: Ajv2020;
  description: Description;
  report: RunReport;
  path: string;
  method: string;
  operation: Operation;
}

async function runOperation(
  subject: Subject,
  cases: number,
  prepare: (fixture: Fixture) => void,
): Promise<void> {
  const fixture = await startFixture();
  const values = await populate(fixture);
  prepare(fixture);
  const input = inputs(subject, values);
  await fc.assert(
    fc.asyncProperty(input, async ({ path, body, token }) => {
      const answer = await fixture.sandbox.handle({
        method: subject.method.toUpperCase(),
        path,
        headers: { 'service-token': token, 'content-type': 'application/json' },
        body,
      });
      await fixture.clock.advance(200);
      check(subject, path, answer);
    }),
    { numRuns: cases, seed: 7 },
  );
  await fixture.sandbox.stop();
}

function check(
  { ajv, report, path, method, operation }: Subject,
  called: string,
  answer: { status: number; headers: Record<string, string>; body: Uint8Array },
): void {
  report.cases++;
  const status = String(answer.status);
  report.statuses[status] = (report.statuses[status] ?? 0) + 1;
  const where = `${method.toUpperCase()} ${called}: ${status}`;
  const described = operation.responses[status];
  if (described === undefined) {
    report.findings.push(`${where} is not described`);
    return;
  }
  if (answer.status >= 500) report.findings.push(`${where} ${Buffer.from(answer.body).toString()}`);
  if (described.content?.['application/json']?.schema === undefined) return;
  const text = Buffer.from(answer.body).toString('utf8');
  // A bodyless success (pull, delete) has nothing to compare.
  if (text === '') return;
  const root = `d#/paths/${pointer(path)}/${method}/responses/${status}/content/${pointer('application/json')}/schema`;
  const validate = ajv.getSchema(root) ?? ajv.compile({ $ref: root });
  if (validate(JSON.parse(text)) !== true) {
    report.findings.push(`${where} ${ajv.errorsText(validate.errors)}`);
  }
}

interface Values {
  box_id: string[];
  instance_id: string[];
  provider_id: string[];
  workspace_id: string[];
  organization_name: string[];
  file_id: string[];
  file_name: string[];
  machine_image_id: string[];
  schemas: string[];
}

/** Records of every family, so that valid calls find something. */
async function populate(fixture: Fixture): Promise<Values> {
  const { call, clock, deployable, deploy, upload, sandbox } = fixture;
  const file = await upload('install.sh', 'echo hi');
  const boxes = await deployable({ install: 'echo x' });
  const version = { description: 'v', number: { major: 1, minor: 0, patch: 0 } };
  const versioned = await ok(call('PUT', boxes.box.uri, { version }));
  const running = await deploy(boxes);
  await clock.advance(60_000);
  const other = await deploy(boxes);
  const base = sandbox.schemaBase;
  const schemas = ['boxes/script', 'boxes/policy', 'boxes/docker', 'boxes/cloudformation'];
  schemas.push('deploy-instance-request', 'workspaces/team', 'organization');
  for (const kind of [
    'aws',
    'openstack',
    'vsphere',
    'vcloud',
    'gce',
    'azure',
    'cloudstack',
    'softlayer',
    'test',
  ]) {
    schemas.push(`${kind}/provider`);
  }
  const [, , , , file_id = '', file_name = ''] = file.url.split('/');
  return {
    box_id: [boxes.box.id, boxes.policy.id, versioned.id],
    instance_id: [running.id, other.id],
    provider_id: [TEST_PROVIDER_ID],
    workspace_id: ['ops', 'shop'],
    organization_name: ['public'],
    file_id: [file_id],
    file_name: [file_name],
    machine_image_id: ['x'],
    schemas: schemas.map((name) => `${base}/${name}`),
  };
}

interface Input {
  path: string;
  body: Uint8Array;
  token: string;
}

function inputs({ description, path, operation }: Subject, values: Values): fc.Arbitrary<Input> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const known = values as unknown as Record<string, string[]>;
  const params = fc.tuple(
    ...names.map((name) =>
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...(known[name] ?? ['x'])) },
        { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }) },
      ),
    ),
  );
  const queries = operation.parameters.filter((parameter) => parameter.in === 'query');
  const query = fc.record(
    Object.fromEntries(
      queries.map(({ name }) => [
        name,
        fc.oneof(
          fc.constantFrom('terminate', 'force_terminate', 'delete', 'deploy', ...values.box_id),
          fc.string(),
        ),
      ]),
    ),
    { requiredKeys: [] },
  );
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? anyBytes() : bodies(description, schema, values);
  const token = fc.oneof(
    { weight: 12, arbitrary: fc.constant('11111111-2222-4333-8444-555555555555') },
    { weight: 1, arbitrary: fc.constantFrom('', 'wrong') },
  );
  return fc.record({ params, query, body, token }).map((input) => {
    let at = 0;
    const filled = path.replaceAll(/\{\w+\}/g, () =>
      encodeURIComponent(String(input.params[at++]).toWellFormed()),
    );
    const search = new URLSearchParams(input.query as Record<string, string>).toString();
    return { path: search === '' ? filled : `${filled}?${search}`, body: input.body, token: input.token };
  });
}

const anyBytes = (): fc.Arbitrary<Uint8Array> => fc.uint8Array({ maxLength: 64 });

const encode = (body: unknown): Uint8Array => Buffer.from(JSON.stringify(body) ?? '');

function namesIn(schema: Schema): string[] {
  const own = Object.keys(schema.properties ?? {});
  return ['unknown', ...own, ...(schema.anyOf ?? []).flatMap(namesIn)];
}

/** Mostly valid bodies, then ones with a wrong, missing or additional member, then no JSON at all. */
function bodies(description: Description, schema: Schema, values: Values): fc.Arbitrary<Uint8Array> {
  const valid = value(description, schema, values, '');
  const spoilt = fc
    .tuple(valid, fc.constantFrom(...namesIn(schema)), fc.jsonValue())
    .map(([good, name, bad]) => ({ ...(good as object), [name]: bad }));
  return fc.oneof(
    { weight: 6, arbitrary: valid.map(encode) },
    { weight: 4, arbitrary: spoilt.map(encode) },
    { weight: 1, arbitrary: fc.jsonValue().map(encode) },
    { weight: 1, arbitrary: anyBytes() },
  );
}

function value(
  description: Description,
  schema: Schema,
  values: Values,
  name: string,
): fc.Arbitrary<unknown> {
  const special: Record<string, readonly string[]> = {
    schema: values.schemas,
    id: values.box_id,
    box_id: values.box_id,
    provider_id: values.provider_id,
    owner: ['ops', 'shop'],
    workspace: ['ops', 'shop'],
    provider: values.provider_id,
  };
  const inner = (next: Schema, key: string): fc.Arbitrary<unknown> => value(description, next, values, key);
  if (schema.$ref !== undefined) {
    return inner(description.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, name);
  }
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map((option) => inner(option, name)));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === 'object') {
    const properties = Object.entries(schema.properties ?? {});
    return fc.record(Object.fromEntries(properties.map(([key, next]) => [key, inner(next, key)])), {
      requiredKeys: schema.required ?? [],
    });
  }
  if (schema.type === 'array') return fc.array(inner(schema.items ?? {}, name), { maxLength: 3 });
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum ?? -5, max: 1_000 });
  if (schema.type === 'number') return fc.double({ min: schema.minimum ?? -5, noNaN: true });
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'null') return fc.constant(null);
  if (schema.type === 'string') {
    const free =
      schema.pattern === undefined
        ? fc.string({
            minLength: schema.minLength ?? 0,
            maxLength: Math.min(schema.maxLength ?? 40, 40),
            unit: 'grapheme',
          })
        : fc.stringMatching(new RegExp(schema.pattern));
    const pattern = new RegExp(schema.pattern ?? '');
    const fitting = special[name]?.filter((text) => name !== 'schema' || pattern.test(text));
    return fitting === undefined || fitting.length === 0
      ? free
      : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...fitting) }, { weight: 1, arbitrary: free });
  }
  return fc.jsonValue();
}
