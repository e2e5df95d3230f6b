import { stringify } from 'yaml';
import { table } from '../markdown.ts';
import type { Field, Group } from './fields.ts';

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
  // Helm puts `global` in when the chart is a part of another one.
  const properties = {
    ...schema.properties,
    global: { type: 'object', description: 'Values of a parent chart.' },
  };
  const all = { $schema: 'http://json-schema.org/draft-07/schema#', title, ...schema, properties };
  return `${JSON.stringify(all, undefined, 2)}\n`;
}

function schemaOf(field: Field): object {
  const { description } = field;
  if (field.kind === 'leaf') return { description, ...field.schema, default: field.default };
  const properties = Object.fromEntries(
    Object.entries(field.fields).map(([name, inner]) => [name, schemaOf(inner)]),
  );
  return {
    ...(description === '' ? {} : { description }),
    type: 'object',
    additionalProperties: false,
    properties,
  };
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
