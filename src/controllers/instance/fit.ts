import type { Box } from '../../api/box.ts';
import type { Instance } from '../../api/instance.ts';
import type { PolicyBox } from '../../api/policy-box.ts';
import { CONDITIONS } from '../../api/reasons.ts';
import {
  unsuitedInstance,
  type DeclaredBox,
  type DeclaredPolicyBox,
  type FindBox,
  type Unsuited,
} from '../../api/unsuited.ts';
import type { BoxRecord } from '../../service/index.ts';
import { nestedIn } from '../box/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import { conditionOf } from '../record/kind.ts';
import { failed, heldVerdict } from '../record/outcome.ts';
import type { ExtraCondition, Verdict } from '../record/status/verdict.ts';
import { verdict } from '../record/status/verdict.ts';
import type { InstanceReferences } from './desired.ts';
import type { InstancePass } from './pass.ts';

/** A record as far as values are judged by it. */
export type DeclaredRecord = DeclaredBox & DeclaredPolicyBox;

/** Findings about a value that is given, not about what lacks one. */
const VALUE = /^spec\.(variables|overrides)\[/;
/** So many misfits a message names. */
const NAMED = 3;
/** So many variables, requirements and claims of a record are looked at. */
const READ = 500;
/** Longer names and words are none that a value could be meant for, characters. */
const LONGEST_WORD = 256;
/** Of options that are longer, all of a record's together, none is judged, characters: a service may send megabytes. */
const OPTIONS_READ = 65_536;

/**
 * Why what an Instance gives is not sent: a box of ours does not have it. Others may have added variables to a record,
 * and an edit may not be on it yet: where a declaration does not fit, or its box is not settled, the record decides.
 *
 * @param of - a change of what is deployed is judged by its values alone
 */
export async function unfitFor(
  of: 'deploy' | 'change',
  pass: InstancePass,
  references: InstanceReferences,
): Promise<Verdict | undefined> {
  const { spec, metadata } = pass.resource;
  const { main, policy, find } = ours(pass.resource, references);
  const judge = (box: DeclaredBox | undefined, policyBox: DeclaredPolicyBox | undefined, at: FindBox) =>
    unsuitedInstance(spec, { box, policyBox }, at).filter(
      ({ field }) => of === 'deploy' || VALUE.test(field),
    );
  const [box, policyBox] = [main && declaredBox(main), policy && declaredPolicyBox(policy)];
  const bySpec = judge(box, policyBox, find);
  const blamed = bySpec.map(({ of: one }) => cached(one, metadata.namespace, references));
  const unsettled = [main, policy].filter((one) => one !== undefined && !isSettled(one));
  const toRead = bySpec.length > 0 || givesAnything(spec) ? [...blamed, ...unsettled] : [];
  const records = new Map<string, DeclaredRecord>();
  for (const one of new Set(toRead)) {
    if (one?.status.id === undefined) continue;
    const read = await readDeclared(pass, one.status.id, one.metadata.name, { afresh: true });
    if ('reason' in read) return read;
    if (read.record !== undefined) records.set(`${one.kind}/${one.metadata.name}`, read.record);
  }
  const wrong = judge(
    box && (records.get(`Box/${box.name}`) ?? box),
    policyBox && (records.get(`PolicyBox/${policyBox.name}`) ?? policyBox),
    (variable) => {
      const found = find(variable);
      return found && (records.get(`Box/${found.name}`) ?? found);
    },
  );
  return wrong.length === 0 ? undefined : said(wrong, bySpec);
}

/** Values that fit no record which is known only by its id. The reads for it hold nothing back. */
export async function doubtsOf(
  pass: InstancePass,
  references: InstanceReferences,
): Promise<readonly Unsuited[]> {
  const { spec } = pass.resource;
  const { boxId, policyBoxId, managementPolicy } = spec;
  if (managementPolicy === 'Observe' || !givesAnything(spec)) return [];
  if (boxId === undefined && policyBoxId === undefined) return [];
  const { main, policy, find } = ours(pass.resource, references);
  const box = boxId === undefined ? main && declaredBox(main) : await foreign(pass, boxId);
  const policyBox =
    policyBoxId === undefined ? policy && declaredPolicyBox(policy) : await foreign(pass, policyBoxId);
  // What was named before may be any number of records.
  const { declared } = pass.memory;
  for (const id of declared.keys()) if (id !== boxId && id !== policyBoxId) declared.delete(id);
  return unsuitedInstance(spec, { box, policyBox }, find).filter(
    ({ of }) => of.name === boxId || of.name === policyBoxId,
  );
}

/** The boxes of an Instance that are resources of ours. */
function ours(
  instance: Instance,
  references: InstanceReferences,
): { main: Cached<Box> | undefined; policy: Cached<PolicyBox> | undefined; find: FindBox } {
  const { spec, metadata } = instance;
  return {
    main: own(references.boxes, metadata.namespace, spec.boxRef?.name),
    policy: own(references.policyBoxes, metadata.namespace, spec.policyBoxRef?.name),
    find: finder(instance, references),
  };
}

async function foreign(pass: InstancePass, id: string): Promise<DeclaredRecord | undefined> {
  const read = await readDeclared(pass, id, id, { afresh: false });
  return 'reason' in read ? undefined : read.record;
}

/** The condition that says so of an Instance that is deployed all the same. */
export function doubtful(doubts: readonly Unsuited[]): ExtraCondition | undefined {
  const [first] = doubts;
  if (first === undefined) return undefined;
  return { type: CONDITIONS.unsuitable, reason: first.reason, message: sentence(doubts) };
}

function said(wrong: readonly Unsuited[], bySpec: readonly Unsuited[]): Verdict {
  const [first] = wrong;
  if (first === undefined) throw new Error('nothing is wrong');
  const declared = wrong.filter(({ field, message }) =>
    bySpec.some((one) => one.field === field && one.message.split(' ')[0] === message.split(' ')[0]),
  );
  const [lasting] = declared;
  if (lasting !== undefined) return verdict(lasting.reason, sentence(declared));
  const { kind, name } = first.of;
  return verdict(
    'WaitingForReference',
    `${kind} "${name}" is changed, and the service does not have that yet: ${sentence(wrong)}`,
  );
}

function sentence(wrong: readonly Unsuited[]): string {
  const named = wrong.slice(0, NAMED).map(({ field, message }) => `${field}: ${message}`);
  const more = wrong.length > NAMED ? `; and ${wrong.length - NAMED} more` : '';
  return `${named.join('; ')}${more}`;
}

function givesAnything({ variables, overrides, policyVariables }: Instance['spec']): boolean {
  return variables.length + overrides.length + policyVariables.length > 0;
}

/** A box that a resource of ours declares; one that is only observed says nothing of its record. */
function own<R extends Box | PolicyBox>(
  cache: KindCache<R>,
  namespace: string,
  name: string | undefined,
): Cached<R> | undefined {
  const box = name === undefined ? undefined : cache.get(`${namespace}/${name}`);
  if (box === undefined || box.problems !== undefined) return undefined;
  return box.spec.managementPolicy === 'Observe' ? undefined : box;
}

function cached(
  { kind, name }: Unsuited['of'],
  namespace: string,
  { boxes, policyBoxes }: InstanceReferences,
): Cached<Box> | Cached<PolicyBox> | undefined {
  return kind === 'Box' ? own(boxes, namespace, name) : own(policyBoxes, namespace, name);
}

function isSettled(box: Box | PolicyBox): boolean {
  return (
    box.status.observedGeneration === box.metadata.generation && conditionOf(box, 'Ready')?.status === 'True'
  );
}

function declaredBox({ metadata, spec }: Box): DeclaredBox {
  return { ...spec, name: metadata.name };
}

function finder({ metadata }: Instance, { boxes }: InstanceReferences): FindBox {
  return ({ boxRef, boxId }) => {
    const found = nestedIn({ metadata }, boxes)({ boxRef, boxId });
    const box = found === undefined ? undefined : own(boxes, metadata.namespace, found.metadata.name);
    return box === undefined ? undefined : declaredBox(box);
  };
}

function declaredPolicyBox({ metadata, spec }: PolicyBox): DeclaredPolicyBox {
  return { ...spec, name: metadata.name };
}

/** What a record declares; nothing where it is not seen. Kept by id unless it is to be read `afresh`. */
async function readDeclared(
  pass: InstancePass,
  id: string,
  name: string,
  { afresh }: { afresh: boolean },
): Promise<{ record: DeclaredRecord | undefined } | Verdict> {
  const { memory, handle, priority, signal } = pass;
  const { attempts, declared } = memory;
  const known = afresh ? undefined : declared.get(id);
  if (known !== undefined) return { record: known };
  const fingerprint = `declared ${id}`;
  const held = attempts.held('read', fingerprint);
  if (held?.verdict !== undefined) return heldVerdict(held, () => verdict('Unknown', ''));
  const read = await handle.client.boxes.read(id, { priority, signal });
  if (read.kind === 'unknown') return failed(read.error, { attempts, aspect: 'read', fingerprint });
  attempts.succeeded('read', fingerprint);
  if (read.kind === 'missing') return { record: undefined };
  const record = declaredIn(read.record, name);
  if (!afresh) declared.set(id, record);
  return { record };
}

function declaredIn({ variables = [], requirements, claims }: BoxRecord, name: string): DeclaredRecord {
  let left = OPTIONS_READ;
  const optionsOf = (options: unknown): string[] | undefined => {
    if (typeof options !== 'string' || options.length > left) return undefined;
    left -= options.length;
    return options.split(',').map((one) => one.trim());
  };
  return {
    name,
    variables: variables
      .filter((variable) => !isGiven(variable.scope) && isWord(variable.name)) // else it overrides one of another box
      .slice(0, READ)
      .map((variable) => ({
        name: variable.name,
        type: isWord(variable.type) ? variable.type : 'Text',
        required: variable.required === true,
        // Not every service shows a secret, and what it is is of no matter here.
        value: variable.type === 'Password' || isGiven(variable.value) ? true : undefined,
        options: optionsOf(variable['options']),
        boxId: variable.type === 'Box' && isWord(variable.value) ? variable.value : undefined,
      })),
    requirements: words(requirements),
    claims: words(claims),
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function words(list: unknown): string[] {
  return Array.isArray(list) ? list.filter(isWord).slice(0, READ) : [];
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_WORD;
}
