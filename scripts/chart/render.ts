import { stringify } from 'yaml';
import { table } from '../markdown.ts';
import type { Field, Group, Leaf } from './fields.ts';

const WIDTH = 100;

/** values.yaml: every value with its default, and above it what it means. */
export function valuesYaml(root: Group, note: string): string {
  return `# ${note}\n\n${lines(root, 0).join('\n')}\n`;
}

function lines({ fields }: Group, depth: number): string[] {
  const indent = '  '.repeat(depth);
  return Object.entries(fields).flatMap(([name, field]) => {
    const comment = wrapped(field.description, WIDTH - indent.length - 2).map((line) => `${indent}# ${line}`);
    if (field.kind === 'group') return [...comment, `${indent}${name}:`, ...lines(field, depth + 1)];
    const text = stringify({ [name]: field.default }, { lineWidth: 0 }).trimEnd();
    return [...comment, ...text.split('\n').map((line) => indent + line)];
  });
}

function wrapped(text: string, width: number): string[] {
  const result: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      result.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return line === '' ? result : [...result, line];
}

/** values.schema.json: anything that is not a value is refused. */
export function valuesSchema(root: Group, title: string): string {
  const schema = schemaOf(root) as { properties: Record<string, unknown> };
  // When the chart is a part of another one, Helm puts `global` in, and the parent's condition is `enabled`.
  const properties = {
    ...schema.properties,
    enabled: {
      type: ['boolean', 'null'],
      description: 'Whether a parent chart installs this one, by its `condition`; nothing here reads it.',
    },
    global: { type: ['object', 'null'], description: 'Values of a parent chart.' },
  };
  const all = { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema, properties };
  return `${JSON.stringify(all, undefined, 2)}\n`;
}

function schemaOf(field: Field): object {
  const { description } = field;
  if (field.kind === 'leaf') return { description, ...orNull(field.schema), default: field.default };
  const properties = Object.fromEntries(
    Object.entries(field.fields).map(([name, inner]) => [name, schemaOf(inner)]),
  );
  return {
    ...(description === '' ? {} : { description }),
    type: ['object', 'null'],
    additionalProperties: false,
    properties,
  };
}

/** A value may be null, which says the same as its absence. */
function orNull({ type, enum: choices, ...rest }: Leaf['schema']): object {
  return {
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(choices === undefined ? {} : { enum: [...(choices as unknown[]), null] }),
    ...rest,
  };
}

/**
 * A template that completes values: null takes a value, or a whole section, out of what a template is given. A section
 * and a plain value are then their defaults; a list or a map is empty.
 */
export function completeTemplate(root: Group, chart: string, note: string): string {
  const fields = JSON.stringify(fieldsOf(root));
  if (fields.includes('`'))
    throw new Error('a default must not contain a backtick: it ends the text in the template');
  return [
    `{{- /* ${note} */}}`,
    `{{- define "${chart}.complete" -}}`,
    `{{- include "${chart}.fill" (dict "values" .Values "fields" (fromJson \`${fields}\`)) }}`,
    '{{- end }}',
    '',
    `{{- define "${chart}.fill" -}}`,
    '{{- $values := .values }}',
    '{{- range $name, $field := .fields }}',
    '{{- if kindIs "invalid" (index $values $name) }}{{- $_ := set $values $name $field.absent }}{{- end }}',
    '{{- if $field.fields }}',
    `{{- include "${chart}.fill" (dict "values" (index $values $name) "fields" $field.fields) }}`,
    '{{- end }}',
    '{{- end }}',
    '{{- end }}',
    '',
  ].join('\n');
}

function fieldsOf({ fields }: Group): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      field.kind === 'group'
        ? { absent: defaultsOf(field), fields: fieldsOf(field) }
        : { absent: absent(field.default) },
    ]),
  );
}

function defaultsOf(field: Field): unknown {
  if (field.kind === 'leaf') return field.default;
  return Object.fromEntries(Object.entries(field.fields).map(([name, inner]) => [name, defaultsOf(inner)]));
}

function absent(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : value;
}

/** The reference: one row a value. */
export function valuesTable(root: Group): string {
  return table(['value', 'default', 'meaning'], rows(root, ''));
}

function rows({ fields }: Group, prefix: string): string[][] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = `${prefix}${name}`;
    if (field.kind === 'group') return rows(field, `${path}.`);
    const choices = Array.isArray(field.schema['enum']) ? ` One of ${field.schema['enum'].join(', ')}.` : '';
    return [[`\`${path}\``, `\`${JSON.stringify(field.default)}\``, `${field.description}${choices}`]];
  });
}
