import { canSee, canSeeBox } from '../access.ts';
import { visibleBlob } from '../blobs/visibility.ts';
import { badRequest } from '../http.ts';
import type { Variable } from '../model.ts';
import type { Caller, Service } from '../service.ts';
import { variableKey } from './masks.ts';

/** Defaults of a variable that a request may leave out; `scope` is absent for the main box, never "". */
export function normalVariable(variable: Variable): Variable {
  const { scope, ...rest } = variable;
  return {
    ...rest,
    value: rest.value ?? '',
    required: rest.required ?? false,
    visibility: rest.visibility ?? 'public',
    ...(scope === undefined || scope === '' ? {} : { scope }),
  };
}

/**
 * Judges variables; those that were there before, with the same type and value, are not judged again: whoever
 * sends a record back unchanged may see less than who made it.
 * @throws Refusal 400 for a variable that cannot be: twice the same, a value of the wrong form, an unknown box
 */
export function checkVariables(
  service: Service,
  caller: Caller,
  variables: readonly Variable[],
  before: readonly Variable[] = [],
): void {
  const known = new Map(before.map((variable) => [variableKey(variable), variable]));
  const seen = new Set<string>();
  for (const variable of variables) {
    const key = variableKey(variable);
    if (seen.has(key)) throw badRequest(`variables: "${variable.name}" is there twice`);
    seen.add(key);
    const was = known.get(key);
    const same = was?.type === variable.type && was.value === variable.value;
    if (!same) checkValue(service, caller, variable);
  }
}

const INSTANCE_ID = /^i-[a-z0-9]{6}$/;
const BOX_ID = /^[0-9a-f-]{36}$/;

function checkValue(service: Service, caller: Caller, variable: Variable): void {
  const { name, type, value } = variable;
  if (value === undefined || value === null || value === '') return;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (type === 'Port' && !(/^\d{1,5}$/.test(text) && Number(text) <= 65_535)) {
    throw badRequest(`variables.${name}: "${text}" is not a port from 0 to 65535`);
  }
  if (type === 'Number' && !Number.isFinite(Number(text))) {
    throw badRequest(`variables.${name}: "${text}" is not a number`);
  }
  if (type === 'Options' && typeof variable['options'] === 'string') {
    const options = variable['options'].split(',').map((option) => option.trim());
    if (!options.includes(text)) {
      throw badRequest(`variables.${name}: "${text}" is not one of the options ${options.join(', ')}`);
    }
  }
  if (type === 'Box' || (type === 'Binding' && BOX_ID.test(text))) {
    const box = service.store.boxes.get(text);
    if (box === undefined || !canSeeBox(service, caller, box)) {
      throw badRequest(`variables.${name}: there is no box ${text} that you can see`);
    }
  }
  if (type === 'Binding' && INSTANCE_ID.test(text)) {
    const instance = service.store.instances.get(text);
    if (instance === undefined || !canSee(caller, instance)) {
      throw badRequest(`variables.${name}: there is no instance ${text} that you can see`);
    }
  }
  if (type === 'File' && text.includes('services/blobs/download/')) {
    if (visibleBlob(service, caller, text) === undefined) {
      throw badRequest(`variables.${name}: there is no uploaded file at ${text}`);
    }
  }
}

type Files = Readonly<Record<string, { url: string } | undefined>>;

/**
 * Judges the files of events, those excepted that were there before.
 * @throws Refusal 400 when an event names a file that was never uploaded, or that the caller cannot see
 */
export function checkEvents(service: Service, caller: Caller, events: unknown, before: unknown = {}): void {
  const known = (before ?? {}) as Files;
  for (const [event, file] of Object.entries((events ?? {}) as Files)) {
    if (file === undefined || known[event]?.url === file.url) continue;
    if (visibleBlob(service, caller, file.url) === undefined) {
      throw badRequest(`events.${event}.url: there is no uploaded file at ${file.url}`);
    }
  }
}
