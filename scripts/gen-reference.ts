/**
 * Writes docs/reference/*.md from the definitions in src/api and the flag tables in src/cli. `--check` writes nothing and exits 1 when one
 * is stale.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { KINDS, referenceFieldsOf } from '../src/api/kinds.ts';
import { ANNOTATION_NOTES, ANNOTATIONS, API_VERSION } from '../src/api/names.ts';
import { factsOf, REASONS, type Reason } from '../src/api/reasons.ts';
import type { KindDefinition } from '../src/api/schema/kind.ts';
import type { StructuralSchema } from '../src/api/schema/structural.ts';
import { cliPage } from './cli-page.ts';
import { settle } from './generated.ts';
import { table } from './markdown.ts';
import { metricsPage, runbooksPage } from './metrics-page.ts';
import { rightsPage } from './rights-page.ts';

const root = join(import.meta.dirname, '..');
const folderOfExamples = join(root, 'deploy', 'examples');
const examples = readdirSync(folderOfExamples)
  .filter((name) => name.endsWith('.yaml'))
  .toSorted()
  .map((name) => readFileSync(join(folderOfExamples, name), 'utf8'))
  .map((text) => ({ text, documents: parseAllDocuments(text) }));

const NOTE = '<!-- Generated from src/api by scripts/gen-reference.ts: edit there. -->';

interface Field {
  path: string;
  schema: StructuralSchema;
  required: boolean;
}

function fieldsOf(schema: StructuralSchema, path: string): Field[] {
  if (schema.items !== undefined) return fieldsOf(schema.items, `${path}[]`);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = {
      path: `${path}.${name}`,
      schema: field,
      required: schema.required?.includes(name) ?? false,
    };
    return [here, ...fieldsOf(field, here.path)];
  });
}

function typeOf(schema: StructuralSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${word}\``).join(', ');
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  return schema.format === 'date-time' ? 'time' : schema.type;
}

function limitsOf(schema: StructuralSchema): string {
  const { minLength, maxLength, minimum, maximum, maxItems, maxProperties } = schema;
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) return `${minimum}–${maximum}`;
  if (maxLength !== undefined) return `${minLength ?? 0}–${maxLength} characters`;
  if (maxItems !== undefined) return `at most ${maxItems}`;
  return maxProperties === undefined ? '' : `at most ${maxProperties}`;
}

function fieldTable(part: StructuralSchema, path: string): string {
  return table(
    ['field', 'type', 'limits', 'needed', 'meaning'],
    fieldsOf(part, path).map(({ path: field, schema, required }) => [
      `\`${field}\``,
      typeOf(schema),
      limitsOf(schema),
      required ? 'yes' : '',
      schema.description ?? '',
    ]),
  );
}

function rulesOf(schema: StructuralSchema, path: string): string[] {
  const here = (schema['x-kubernetes-validations'] ?? []).map(
    ({ message }) => `- \`${path === '' ? 'metadata.name' : path}\`: ${message}`,
  );
  const below = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    rulesOf(field, path === '' ? name : `${path}.${name}`),
  );
  return [...here, ...(schema.items === undefined ? [] : rulesOf(schema.items, `${path}[]`)), ...below];
}

/** The file of the examples that is about a kind: the last document says so. */
function exampleOf(kind: string): string {
  const found = examples.find(({ documents }) => documents.at(-1)?.get('kind') === kind);
  if (found === undefined) throw new Error(`deploy/examples has no file that ends with a ${kind}`);
  return found.text.trim();
}

function kindPage(definition: KindDefinition): string {
  const shape = definition.structural();
  const spec = shape.properties?.['spec'] as StructuralSchema;
  const status = shape.properties?.['status'] as StructuralSchema;
  const references = referenceFieldsOf(definition).map(
    ({ path, targets, keyed }) => `- \`${path}\`: ${targets.join(' or ')}${keyed ? ', one key of it' : ''}`,
  );
  const columns = definition.columns.map(({ name, description, priority }) => [
    name,
    description,
    priority === undefined ? '' : '`-o wide`',
  ]);
  return page(definition.kind, [
    definition.description,
    `\`apiVersion: ${API_VERSION}\`, \`kind: ${definition.kind}\`; namespaced; ` +
      `\`kubectl get ${definition.plural}\` or \`${definition.shortNames.join('`, `')}\`, ` +
      `with all other kinds \`kubectl get boxwright\`. ` +
      `\`--field-selector\` takes ${definition.selectableFields.map((field) => `\`${field.slice(1)}\``).join(' and ')}.`,
    `## Example\n\n\`\`\`yaml\n${exampleOf(definition.kind)}\n\`\`\``,
    `## Spec\n\n${fieldTable(spec, 'spec')}`,
    `## Rules\n\nWhat the API server refuses, with its words:\n\n${rulesOf(shape, '').join('\n')}`,
    `## References\n\nAll in the namespace of the resource.\n\n${references.join('\n')}`,
    `## Status\n\n${fieldTable(status, 'status')}`,
    `## Columns\n\n${table(['column', 'meaning', 'shown'], columns)}`,
  ]);
}

function reasonsPage(): string {
  const rows = (Object.keys(REASONS) as Reason[]).map((reason) => {
    const { ready, also, situation, whatToDo } = factsOf(reason);
    return [`\`${reason}\``, ready === 'AsBefore' ? 'as before' : ready, also ?? '', situation, whatToDo];
  });
  return page('Reasons', [
    'Every reason that a condition can have. Ready is always there; Reconciling and Stalled stand beside it ' +
      'only while True, never both: Reconciling means that it goes on by itself, Stalled that somebody has to act. ' +
      '“As before” means that Ready stays True where it was and the spec has not changed since, else False.',
    table(['reason', 'Ready', 'beside it', 'situation', 'what to do'], rows),
  ]);
}

function annotationsPage(): string {
  const keys = Object.keys(ANNOTATIONS) as (keyof typeof ANNOTATIONS)[];
  const rows = keys.map((key) => {
    const { writtenBy, on, meaning } = ANNOTATION_NOTES[key];
    return [`\`${ANNOTATIONS[key]}\``, writtenBy, on, meaning];
  });
  return page('Annotations', [table(['annotation', 'written by', 'on', 'meaning'], rows)]);
}

function page(title: string, parts: readonly string[]): string {
  return `${[NOTE, `# ${title}`, ...parts].join('\n\n')}\n`;
}

const files = new Map(KINDS.map((definition) => [`${definition.singular}.md`, kindPage(definition)]));
files.set('reasons.md', reasonsPage());
files.set('annotations.md', annotationsPage());
files.set('cli.md', await cliPage());
files.set('metrics.md', metricsPage());
files.set('rights.md', rightsPage());
const links = [...files.keys()].map((name) => `- [${name.replace('.md', '')}](${name})`);
files.set('README.md', page('Reference', [links.join('\n')]));
const folder = join(root, 'docs', 'reference');
const check = process.argv.includes('--check');
const index = new Map([['README.md', runbooksPage()]]);
const stale = await settle(folder, '.md', files, check);
process.exitCode = stale | (await settle(join(root, 'docs', 'runbooks'), 'README.md', index, check));
