import { canSeeBox } from '../access.ts';
import { blobByUrl } from '../blobs/routes.ts';
import { badRequest } from '../http.ts';
import type { BoxDoc, Variable } from '../model.ts';
import type { Caller, Service } from '../service.ts';
import { boxChildren } from './tree.ts';

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

const key = (variable: Variable): string => `${variable.scope ?? ''} ${variable.name}`;

/** @throws Refusal 400 for a variable that cannot be: twice the same, a value of the wrong form, an unknown box */
export function checkVariables(service: Service, caller: Caller, variables: readonly Variable[]): void {
  const seen = new Set<string>();
  for (const variable of variables) {
    if (seen.has(key(variable))) throw badRequest(`variables: "${variable.name}" is there twice`);
    seen.add(key(variable));
    checkValue(service, caller, variable);
  }
}

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
  if (type === 'Box' || (type === 'Binding' && /^[0-9a-f-]{36}$/.test(text))) {
    const box = service.store.boxes.get(text);
    if (box === undefined || !canSeeBox(caller, box)) {
      throw badRequest(`variables.${name}: there is no box ${text} that you can see`);
    }
  }
  if (
    type === 'File' &&
    text.includes('services/blobs/download/') &&
    blobByUrl(service, text) === undefined
  ) {
    throw badRequest(`variables.${name}: there is no uploaded file at ${text}`);
  }
}

/** @throws Refusal 400 when an event names a file that was never uploaded */
export function checkEvents(service: Service, events: unknown): void {
  for (const [event, file] of Object.entries((events ?? {}) as Record<string, { url: string }>)) {
    if (blobByUrl(service, file.url) === undefined) {
      throw badRequest(`events.${event}.url: there is no uploaded file at ${file.url}`);
    }
  }
}

/** @throws Refusal 400 when the box would contain itself */
export function checkCycle(service: Service, box: BoxDoc): void {
  const visit = (current: BoxDoc, path: readonly string[]): void => {
    for (const { box: child } of boxChildren(service, current, [], '')) {
      const id = child.version?.box ?? child.id;
      if (path.includes(id)) throw badRequest(`variables: the box would contain itself (${child.name})`);
      visit(child, [...path, id]);
    }
  };
  visit(box, [box.version?.box ?? box.id]);
}
