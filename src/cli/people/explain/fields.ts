import type { TSchema } from 'typebox';
import { cutText } from '../../../base/text.ts';
import type { StructuralSchema } from '../../../api/schema/structural.ts';
import { printable } from '../../terminal.ts';

/** Longer text, such as a script, is told by its size. */
const TEXT_LIMIT = 120;

interface Marked {
  shown?: true;
  properties?: Readonly<Record<string, TSchema>>;
}

/** What was declared: without what the API server filled in as a default, long text cut. */
export function declaredOf(spec: unknown, shape: StructuralSchema | undefined): unknown {
  if (Array.isArray(spec)) return spec.map((item) => declaredOf(item, shape?.items));
  if (typeof spec === 'string') return shortened(spec);
  if (typeof spec !== 'object' || spec === null) return spec;
  return Object.fromEntries(
    Object.entries(spec)
      .filter(([name, value]) => !isDefault(value, shape?.properties?.[name]))
      .map(([name, value]) => [printable(name), declaredOf(value, shape?.properties?.[name])]),
  );
}

/** What was found: the fields of status that only show, in their order. */
export function foundOf(
  status: Readonly<Record<string, unknown>>,
  schema: TSchema,
  leftOut: ReadonlySet<string>,
): Record<string, unknown> {
  const properties = (schema as Marked).properties ?? {};
  return Object.fromEntries(
    Object.entries(properties)
      .filter(([name, field]) => (field as Marked).shown === true && !leftOut.has(name))
      .filter(([name]) => status[name] !== undefined)
      .map(([name]) => [name, declaredOf(status[name], undefined)]),
  );
}

function isDefault(value: unknown, shape: StructuralSchema | undefined): boolean {
  if (shape?.default === undefined) return false;
  if (JSON.stringify(value) === JSON.stringify(shape.default)) return true;
  // `{}` stands for an object of defaults, which the API server fills in one by one.
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    JSON.stringify(shape.default) === '{}' &&
    Object.entries(value).every(([name, field]) => isDefault(field, shape.properties?.[name]))
  );
}

function shortened(text: string): string {
  const plain = printable(text).trim();
  if (text.length <= TEXT_LIMIT && !text.trimEnd().includes('\n')) return plain;
  const lines = text.trimEnd().split('\n').length;
  return `${cutText(plain, 60)} (${lines} ${lines === 1 ? 'line' : 'lines'}, ${text.length} characters)`;
}
