import { AUTOMATIC_UPDATES, VARIABLE_VISIBILITY } from '../../../api/words.ts';
import { exactJson } from '../../../base/exact-json.ts';
import { isMasked } from '../../../controllers/content/variables.ts';
import type { VariableRecord } from '../../../service/index.ts';
import type { ContentSource } from './contents.ts';
import type { Known } from './references.ts';
import type { Sketch } from './sketch.ts';

/** What the variables of a record are turned into manifests with. */
export interface VariableContext {
  known: Known;
  /** The content of a File by where the service keeps it. */
  file: (
    key: string,
    url: string,
  ) => Promise<{ source: ContentSource } | { secret: true } | { problem: string }>;
}

/** Whose variables they are: what declares them says more of them than what gives values. */
export type Giver = 'box' | 'policyBox' | 'instance';

/** Draws variables of a record into `spec.variables`, and those of nested boxes into `spec.overrides`. */
export async function drawVariables(
  sketch: Sketch,
  variables: readonly VariableRecord[],
  giver: Giver,
  context: VariableContext,
): Promise<void> {
  for (const variable of variables) {
    const { scope = '' } = variable;
    const isNested = scope !== '';
    const drawn = await drawOne(sketch, variable, isNested ? 'instance' : giver, context);
    if (drawn === undefined) continue;
    const { entry, secret } = drawn;
    const value = isNested ? { scope, ...entry } : entry;
    const isTaken = sketch.add(isNested ? 'overrides' : 'variables', {
      key: title(variable),
      value,
      to: 'list',
    });
    if (!isTaken) continue;
    if (entry['file'] !== undefined) sketch.hasFiles = true;
    if (variable.type === 'Box' && typeof variable.value === 'string') sketch.nests.push(variable.value);
    if (secret !== undefined)
      sketch.secrets.push({ secret: secretOf(sketch), key: secret, what: `variable ${title(variable)}` });
  }
}

type Drawn = { entry: Record<string, unknown>; secret?: string };

async function drawOne(
  sketch: Sketch,
  variable: VariableRecord,
  giver: Giver,
  { known, file }: VariableContext,
): Promise<Drawn | undefined> {
  const { name, type = 'Text', scope = '' } = variable;
  const entry: Record<string, unknown> = { name, type };
  const key = (scope === '' ? name : `${scope}.${name}`).replaceAll(/[^A-Za-z0-9._-]/g, '_');
  const has = variable.value !== undefined && variable.value !== null && variable.value !== '';
  if (giver !== 'instance') declare(sketch, variable, entry);
  const options = variable['options'];
  if (typeof options === 'string' && options !== '' && type === 'Options') {
    entry['options'] = options.split(',');
  }
  switch (type) {
    case 'Password':
      // An instance has a Password because somebody gave it a value; not every build shows that there is one.
      if (!has && (giver !== 'instance' || !isMasked(variable.value))) return { entry };
      entry['valueFrom'] = { secretKeyRef: { name: secretOf(sketch), key } };
      return { entry, secret: key };
    case 'File': {
      if (!has) return { entry };
      const found = await file(`variables.${key}`, textOf(variable.value));
      if ('problem' in found) {
        sketch.remark(`File variable ${title(variable)} stays as it is on the service: ${found.problem}`);
        return undefined;
      }
      if ('source' in found) return { entry: { ...entry, file: found.source } };
      return { entry: { ...entry, file: { secretKeyRef: { name: secretOf(sketch), key } } }, secret: key };
    }
    case 'Box':
    case 'Binding':
      if (giver !== 'box') {
        sketch.remark(
          `${type} variable ${title(variable)} cannot be declared yet, and stays as it is on the service`,
        );
        return undefined;
      }
      return { entry: { ...entry, ...(has ? known.refer('Box', textOf(variable.value)) : {}) } };
    default:
      return {
        entry: has || giver === 'instance' ? { ...entry, value: textOf(variable.value ?? '') } : entry,
      };
  }
}

/** What a declaration says beyond the value. */
function declare(sketch: Sketch, variable: VariableRecord, entry: Record<string, unknown>): void {
  if (variable.required === true) entry['required'] = true;
  const visibility = VARIABLE_VISIBILITY.fromService(variable.visibility ?? 'public');
  if (visibility === undefined) {
    const said = JSON.stringify(variable.visibility);
    sketch.remark(`visibility ${said} of variable ${title(variable)} is not known, and stays on the service`);
  } else if (visibility !== 'Public') {
    entry['visibility'] = visibility;
  }
  if (variable.type === 'Box') {
    const updates = AUTOMATIC_UPDATES.fromService(variable.automatic_updates ?? 'off');
    if (updates !== undefined && updates !== 'None') entry['automaticUpdates'] = updates;
  }
}

/** Name of the Secret that a person makes for a resource. */
export function secretOf({ kind, name }: Pick<Sketch, 'kind' | 'name'>): string {
  return `${kind.toLowerCase()}-${name}-secrets`;
}

function title({ name, scope }: VariableRecord): string {
  return JSON.stringify(scope === undefined || scope === '' ? name : `${scope}.${name}`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : exactJson(value);
}
