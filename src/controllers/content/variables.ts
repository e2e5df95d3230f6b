import type {
  BoxVariable,
  NestedOverride,
  PolicyBoxVariable,
  VariableValue,
} from '../../api/fields/variables.ts';
import { AUTOMATIC_UPDATES, VARIABLE_VISIBILITY } from '../../api/words.ts';
import { canonicalJson } from '../../base/hash.ts';
import { MASK, type SecretSet } from '../../base/masking/secret-set.ts';
import type { VariableRecord } from '../../service/index.ts';
import type { Digest, Domain } from '../digest.ts';
import { mergeList } from '../merge.ts';
import { fileField } from '../record/status/present-hashes.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import type { Missing, OpenContent, ReadOptions, SourceRef, Sources } from '../sources.ts';
import { sameNumber } from './normalised.ts';
import { secretText } from './secret-text.ts';

/** Content that has to be uploaded as a blob before it can be referred to. */
export interface DesiredFile {
  /** Where it belongs, such as `events.install` or `variables.CONF`. */
  path: string;
  fileName: string;
  /** Keyed hash of the content. */
  hmac: string;
  /** The same as status shows it. */
  shown: string;
  contentType: string;
  /** The same hash of other content. */
  hashOf(bytes: Uint8Array): string;
  /** Takes the content in hand: it is kept nowhere, and may have changed since it was hashed. */
  open(signal: AbortSignal): Promise<OpenContent>;
}

/** What the contents of one resource may come to, and what they have come to so far, bytes. */
export interface ContentSum {
  files: number;
  secrets: number;
}

/** All files of a resource, bytes. */
const FILES_LIMIT = 32 * 1_048_576;
/** One Password, and all of a resource, bytes: they are in hand for as long as a pass is under way. */
const PASSWORD_LIMIT = 65_536;
const PASSWORDS_LIMIT = 262_144;

/** A variable as declared, contents resolved. */
export interface DesiredVariable {
  /** `name`, or `scope:name`: how status lists it. */
  key: string;
  name: string;
  scope: string;
  /** As it travels; a File's value is filled in once its blob is there. */
  wire: VariableRecord;
  /** Keyed hash of a secret value, or of a file's content. */
  hmac?: string;
  secret?: boolean;
  file?: DesiredFile;
}

/** Declared variables with their contents, or what they wait for. */
export type ResolvedVariables =
  { kind: 'ready'; variables: DesiredVariable[] } | { kind: 'waiting'; verdict: Verdict };

type AnyVariable = BoxVariable | PolicyBoxVariable | VariableValue | NestedOverride;

/** Whether the id of a box is known. */
export type BoxId = { kind: 'found'; id: string } | { kind: 'waiting'; message: string } | { kind: 'later' };

/** What resolving needs besides the variables. */
export interface ResolveContext {
  /** The resource that declares them. */
  domain: Domain;
  sources: Sources;
  digest: Digest;
  /** Learns every value that comes from a Secret: it is sent to the service, which may quote it. */
  secrets: Pick<SecretSet, 'note'>;
  signal: AbortSignal;
  /** Reads of Secrets that began before this mark do not count. */
  secretsAfter?: number | undefined;
  /** Goes on from what was read before for the same resource. */
  sum: ContentSum;
  /** The id of a box that a variable names, or what it waits for; `later`: it is not needed yet. */
  boxId?: (name: string, type: string) => BoxId;
}

/**
 * Reads contents and turns declared variables into what travels.
 *
 * @param lists - by the field that declares them, such as `spec.variables`.
 */
export async function resolveVariables(
  lists: Readonly<Record<string, readonly AnyVariable[]>>,
  context: ResolveContext,
): Promise<ResolvedVariables> {
  const out: DesiredVariable[] = [];
  let waits: Verdict | undefined;
  for (const [field, variables] of Object.entries(lists)) {
    for (const variable of variables) {
      const resolved = await resolveOne(variable, context);
      if ('reason' in resolved) {
        const message = `${field}: variable "${variable.name}": ${resolved.message}`;
        // The others are read all the same: their secrets are with the service, which may quote them.
        waits ??= { ...resolved, message };
      } else {
        out.push(resolved);
      }
    }
  }
  return waits === undefined ? { kind: 'ready', variables: out } : { kind: 'waiting', verdict: waits };
}

async function resolveOne(
  variable: AnyVariable,
  context: ResolveContext,
): Promise<DesiredVariable | Verdict> {
  const { name, type } = variable;
  const scope = 'scope' in variable ? variable.scope : '';
  const key = variableKey(name, scope);
  const wire: VariableRecord = { name, type };
  if (scope !== '') wire.scope = scope;
  if ('required' in variable) {
    wire.required = variable.required;
    wire.visibility = VARIABLE_VISIBILITY.toService(variable.visibility);
  }
  if (variable.options !== undefined) wire['options'] = variable.options.join(',');
  if (variable.value !== undefined) wire.value = variable.value;
  if (type === 'Box') {
    const updates = 'automaticUpdates' in variable ? variable.automaticUpdates : undefined;
    wire.automatic_updates = AUTOMATIC_UPDATES.toService(updates ?? 'None');
  }
  const base = { key, name, scope, wire };

  if (variable.valueFrom !== undefined) {
    const ref: SourceRef = { kind: 'Secret', ...variable.valueFrom.secretKeyRef };
    const content = await context.sources.read(context.domain.namespace, ref, readOptions(context));
    if (content.kind === 'missing') return waitsFor(content);
    const { byteLength } = content.bytes;
    context.sum.secrets += byteLength;
    if (byteLength > PASSWORD_LIMIT || context.sum.secrets > PASSWORDS_LIMIT) {
      const what =
        byteLength > PASSWORD_LIMIT
          ? `key "${ref.key}" of Secret "${ref.name}" holds more than 64 KiB, which no Password may`
          : 'the Passwords of one resource may hold 256 KiB, and with this one they hold more';
      return verdict('NotSupported', `${what}: make it a File`);
    }
    const secret = secretText(content.bytes);
    if (secret === undefined) {
      const what = `key "${ref.key}" of Secret "${ref.name}" is not UTF-8 text, which a Password has to be`;
      return verdict('NotSupported', `${what}: put text there, or make the variable a File`);
    }
    context.secrets.note(secret);
    wire.value = secret;
    return { ...base, secret: true, hmac: context.digest.of('variable', secret) };
  }
  if (variable.file !== undefined) {
    const { inline, configMapKeyRef, secretKeyRef } = variable.file;
    const named = { fileName: name, contentType: 'application/octet-stream' };
    const file = await readFile(
      { inline, configMapKeyRef, secretKeyRef },
      `variables.${key}`,
      named,
      context,
    );
    if ('reason' in file) return file;
    return { ...base, file, hmac: file.hmac };
  }
  if ('boxId' in variable && variable.boxId !== undefined) wire.value = variable.boxId;
  if ('boxRef' in variable && variable.boxRef !== undefined) {
    const box = context.boxId?.(variable.boxRef.name, type);
    if (box === undefined || box.kind === 'waiting') {
      return waitsFor({ message: box?.message ?? 'boxes cannot be resolved here' });
    }
    if (box.kind === 'found') wire.value = box.id;
  }
  return base;
}

function waitsFor({ message, recheckAfterMs }: Omit<Missing, 'kind'>): Verdict {
  return verdict('WaitingForReference', message, recheckAfterMs);
}

/** Looks at a file's content wherever it is declared; a verdict says what is missing. */
export async function readFile(
  source: {
    inline?: string | undefined;
    configMapKeyRef?: { name: string; key: string } | undefined;
    secretKeyRef?: { name: string; key: string } | undefined;
  },
  path: string,
  { fileName, contentType }: { fileName: string; contentType: string },
  context: Omit<ResolveContext, 'boxId'>,
): Promise<DesiredFile | Verdict> {
  const ref: SourceRef | undefined =
    source.configMapKeyRef !== undefined
      ? { kind: 'ConfigMap', ...source.configMapKeyRef }
      : source.secretKeyRef !== undefined
        ? { kind: 'Secret', ...source.secretKeyRef }
        : undefined;
  const { domain, sources, secrets, sum, digest } = context;
  const { namespace } = domain;
  const hashOf = (bytes: Uint8Array): string => {
    if (ref?.kind === 'Secret' && bytes.byteLength > 0) secrets.note(Buffer.from(bytes).toString('utf8'));
    return digest.of('file', bytes);
  };
  const file = { path, fileName, contentType, hashOf };
  const hashed = (hmac: string): Pick<DesiredFile, 'hmac' | 'shown'> => ({
    hmac,
    shown: digest.shown(domain, fileField(path), hmac),
  });
  if (ref === undefined) {
    const bytes = Buffer.from(source.inline ?? '', 'utf8');
    const open = (): Promise<OpenContent> =>
      Promise.resolve({
        kind: 'found',
        bytes: Buffer.from(source.inline ?? '', 'utf8'),
        release: () => undefined,
      });
    return { ...file, ...hashed(hashOf(bytes)), open };
  }
  const content = await sources.hashed(namespace, ref, hashOf, readOptions(context));
  if (content.kind === 'missing') return waitsFor(content);
  sum.files += content.size;
  if (sum.files > FILES_LIMIT) {
    const message =
      `the files of one resource may hold 32 MiB, and with key "${ref.key}" of ${ref.kind} "${ref.name}" they hold ` +
      `more: take files away, or have a script fetch what is large`;
    return verdict('NotSupported', message);
  }
  // What is sent is read anew: a Secret has no version that would tell whether it is still the same.
  const open = (signal: AbortSignal): Promise<OpenContent> =>
    sources.open(namespace, ref, { signal, after: context.secretsAfter });
  return { ...file, ...hashed(content.hash), open };
}

function readOptions({ signal, secretsAfter }: Omit<ResolveContext, 'boxId'>): ReadOptions {
  return { signal, after: secretsAfter };
}

/** How status lists a variable. */
export function variableKey(name: string, scope: string | undefined): string {
  return scope === undefined || scope === '' ? name : `${scope}:${name}`;
}

/** The declared variables in one keyed hash, secrets and file contents included. */
export function hashOfVariables(variables: readonly DesiredVariable[]): string {
  return canonicalJson(
    variables
      .map(({ key, wire, hmac }) => ({ key, wire: hmac === undefined ? wire : { ...wire, value: hmac } }))
      // What an earlier version did not send leaves its hash as it is.
      .map(({ key, wire: { automatic_updates: updates, ...wire } }) => ({
        key,
        wire: updates === undefined || updates === 'off' ? wire : { ...wire, automatic_updates: updates },
      }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1)),
  );
}

/** Values that the service shows instead of a secret. */
export function isMasked(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && /^[*•]+$/.test(value));
}

/** A variable as it shall travel: what the service has added to it stays. */
export function combineVariable(current: VariableRecord, desired: VariableRecord): VariableRecord {
  const merged: VariableRecord = { ...current, ...desired };
  if (desired.value === undefined) delete merged.value;
  if (desired.scope === undefined) delete merged.scope;
  // A definition says all that there is to choose from; a mere value for a variable of the box does not.
  if (desired.required !== undefined && desired['options'] === undefined) delete merged['options'];
  return merged;
}

/** The three-way merge of a record's variables. */
export function mergeVariables(lists: {
  current: readonly VariableRecord[];
  managed: readonly string[];
  desired: readonly VariableRecord[];
}): VariableRecord[] {
  return mergeList({
    ...lists,
    keyOf: (variable) => variableKey(variable.name, variable.scope),
    combine: combineVariable,
  });
}

/**
 * Keys of Passwords that a PUT does not lose: their value is known here, or they are declared without one, and nobody
 * has given them one. `isOurs`: whether the variable of a key came from here.
 */
export function keptSecrets(
  declared: readonly DesiredVariable[],
  current: readonly VariableRecord[],
  isOurs: (key: string) => boolean,
): Set<string> {
  const have = new Map(current.map((variable) => [variableKey(variable.name, variable.scope), variable]));
  const kept = declared.filter(({ key, secret }) => {
    const there = have.get(key);
    if (secret === true || there === undefined) return true;
    const isEmpty = there.value === undefined || there.value === null || there.value === '';
    return isEmpty && isOurs(key); // builds that show no secret show none of others either
  });
  return new Set(kept.map(({ key }) => key));
}

/** Keys of unmanaged secrets whose value only the service knows: a PUT of the masked value would lose them. */
export function secretsAtRisk(merged: readonly VariableRecord[], ours: ReadonlySet<string>): string[] {
  return merged
    .filter((variable) => variable.type === 'Password' && isMasked(variable.value))
    .map((variable) => variableKey(variable.name, variable.scope))
    .filter((key) => !ours.has(key));
}

/** Fields of the declared variables that the record shows otherwise; secrets are compared by hash elsewhere. */
export function variableDifferences(
  current: readonly VariableRecord[],
  merged: readonly VariableRecord[],
): { field: string; want: string; have: string }[] {
  const have = new Map(current.map((variable) => [variableKey(variable.name, variable.scope), variable]));
  const out: { field: string; want: string; have: string }[] = [];
  for (const variable of merged) {
    const key = variableKey(variable.name, variable.scope);
    const old = have.get(key);
    have.delete(key);
    if (old === undefined) {
      out.push({ field: `variables.${key}`, want: 'present', have: 'absent' });
      continue;
    }
    const isSecret = SECRET_TYPES.has(variable.type ?? '') || SECRET_TYPES.has(old.type ?? '');
    for (const field of COMPARED) {
      if (variable.type === 'Password' && field === 'value' && isMasked(old.value)) continue;
      const secret = isSecret && (field === 'value' || field === 'options');
      const [want, has] = [text(variable[field]), text(old[field])];
      if (variable[field] === undefined || want === has) continue;
      if (field === 'value' && NUMBERS.has(variable.type ?? '') && sameNumber(want, has)) continue;
      // Not every service says what is not so.
      if (has === '' && (variable[field] === false || (field === 'automatic_updates' && want === 'off')))
        continue;
      out.push({
        field: `variables.${key}.${field}`,
        want: secret ? MASK : want,
        have: secret ? MASK : has,
      });
    }
  }
  for (const key of have.keys()) out.push({ field: `variables.${key}`, want: 'absent', have: 'present' });
  return out;
}

/** Fields of a variable that a declaration decides. */
const COMPARED = ['type', 'value', 'required', 'visibility', 'options', 'automatic_updates'] as const;
/** Types whose values are shown to nobody, whichever side has them. */
const SECRET_TYPES: ReadonlySet<string> = new Set(['Password', 'File']);
/** Types whose values some builds of the service keep as numbers. */
const NUMBERS: ReadonlySet<string> = new Set(['Number', 'Port']);

function text(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : canonicalJson(value);
}
