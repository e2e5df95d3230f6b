import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { TSchema } from 'typebox';
import { invalid } from '../http.ts';

/** Checks bodies against the schemas of the route table; a validator is compiled on first use and kept. */
class Validation {
  readonly #ajv = new Ajv({ strict: false, allErrors: false, validateFormats: false, verbose: true });
  readonly #compiled = new WeakMap<TSchema, ValidateFunction>();

  /** @throws Refusal 400 that names the field and what is wrong with it */
  check(schema: TSchema, body: unknown): void {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(schema);
      this.#compiled.set(schema, validate);
    }
    if (!validate(body)) throw invalid(describe(validate.errors?.[0]));
  }

  /** Whether `value` fits, and if not the reason. */
  complaint(schema: TSchema, value: unknown): string | undefined {
    try {
      this.check(schema, value);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}

function describe(error: ErrorObject | undefined): string {
  if (error === undefined) return 'invalid data';
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  if (error.keyword === 'required') {
    const missing = String(error.params['missingProperty']);
    return `${path === '' ? '' : `${path}.`}${missing}: is required`;
  }
  if (error.keyword === 'additionalProperties') {
    const unknown = String(error.params['additionalProperty']);
    return `${path === '' ? '' : `${path}.`}${unknown}: is not a field of this request`;
  }
  if (error.keyword === 'enum') {
    const allowed = error.params['allowedValues'] as unknown[];
    return `${path}: must be one of ${allowed.join(', ')}`;
  }
  const { description } = (error.parentSchema ?? {}) as { description?: string };
  if (error.keyword === 'pattern' && description !== undefined) {
    return `${path}: ${JSON.stringify(error.data).slice(0, 100)} is not ${description}`;
  }
  return `${path === '' ? 'body' : path}: ${error.message ?? 'invalid'}`;
}

export type { Validation };

/** One for the process: what it keeps is a function of the schemas alone. */
export const validation = new Validation();
