import type { Box } from '../../api/box.ts';
import { EVENT_NAMES } from '../../api/words.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { ResourceType } from '../../kube/index.ts';
import type { BoxRecord } from '../../service/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import { hashOfVariables, readFile, resolveVariables } from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import { convergeDraft, type DraftMemory } from '../draft/converge.ts';
import type { DesiredEvent, Draft } from '../draft/draft.ts';
import { DRAFT_FORGOTTEN, draftKind, shownOf } from '../draft/kind.ts';
import type { Convergence, Pass, RecordKind, Resolution, StatusFields } from '../record/kind.ts';
import { plainIdProblem } from '../record/plain-id.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { finalNameOf } from '../record/resource.ts';
import { misnesting, NESTING_LIMIT, type FindNested, type Misnesting } from './cycle.ts';

type BoxPass = Pass<Box, BoxRecord, DraftMemory>;

/** A Box of type Script as a record of the service. */
export function boxKind(options: {
  context: OperatorContext;
  type: ResourceType;
  boxes: KindCache<Box>;
  users: (box: Box) => { names: string[]; others: boolean };
}): RecordKind<Box, BoxRecord, Draft, DraftMemory> {
  const { context, boxes } = options;
  return {
    ...draftKind('script'),
    type: options.type,
    noun: 'box',
    forgotten: [...DRAFT_FORGOTTEN, 'stack'],
    resolve: (pass) => resolveBox(pass, context, boxes),
    converge: (pass, record, draft) => convergeBox(pass, record, draft),
    observe: (_pass, record) => shownOf(record),
    users: options.users,
  };
}

async function convergeBox(pass: BoxPass, record: BoxRecord, draft: Draft): Promise<Convergence<Box>> {
  const done = await convergeDraft<Box>(pass, record, draft);
  const nested = draft.variables.flatMap(({ wire }) => (wire.type === 'Box' ? [String(wire.value)] : []));
  const fields: StatusFields<Box> = {
    ...done.fields,
    ...(nested.length === 0 ? { stack: undefined } : { stack: [record.id, ...nested.toSorted()] }),
  };
  return { ...done, fields };
}

async function resolveBox(
  pass: BoxPass,
  context: OperatorContext,
  boxes: KindCache<Box>,
): Promise<Resolution<Draft>> {
  const box = pass.resource;
  const { namespace } = box.metadata;
  const find = (other: string): Cached<Box> | undefined => boxes.get(`${namespace}/${other}`);
  const wrong = misnesting(box, nestedIn(box, boxes));
  if (wrong !== undefined) return { kind: 'waiting', verdict: verdict('NeedsUser', misnested(wrong)) };
  const { sources, digest } = context;
  const { signal, secretsAfter } = pass;
  const { secrets } = pass.handle;
  const sum = { files: 0, secrets: 0 };
  const reading = { namespace, sources, digest, secrets, signal, secretsAfter, sum };
  const declared = { 'spec.variables': box.spec.variables, 'spec.overrides': box.spec.overrides };
  const variables = await resolveVariables(declared, {
    ...reading,
    boxId: (other) => idOf(other, find(other)),
  });
  if (variables.kind === 'waiting') return variables;
  const unknown = await unknownBox(pass, boxes);
  if (unknown !== undefined) return { kind: 'waiting', verdict: unknown };
  const events: DesiredEvent[] = [];
  for (const word of EVENT_NAMES.ours) {
    const source = box.spec.events[word];
    if (source === undefined) continue;
    const event = EVENT_NAMES.toService(word);
    const file = await readFile(source, `events.${event}`, event, reading);
    if ('reason' in file) {
      return { kind: 'waiting', verdict: { ...file, message: `spec.events.${word}: ${file.message}` } };
    }
    events.push({ event, destinationPath: source.destinationPath, file });
  }
  const { description, requirements } = box.spec;
  const finalName = finalNameOf(box);
  const fields = { description, requirements };
  const hash = digest.of(
    canonicalJson({
      finalName,
      fields,
      events: events.map(({ event, destinationPath, file }) => ({ event, destinationPath, hmac: file.hmac })),
    }),
    hashOfVariables(variables.variables),
  );
  return {
    kind: 'ready',
    desired: { name: finalName, fields, asked: {}, variables: variables.variables, events, hash },
  };
}

function misnested({ kind, path }: Misnesting): string {
  if (kind === 'cycle') {
    return `spec.variables: boxes contain each other (${path.join(' → ')}): take one of these variables away`;
  }
  const { levels, boxes } = NESTING_LIMIT;
  const way = path.length <= 5 ? path : [...path.slice(0, 3), '…', ...path.slice(-1)];
  return (
    `spec.variables: a box may have ${boxes} boxes below it, at most ${levels} levels deep, and ${way.join(' → ')} goes ` +
    `beyond that: take nested boxes away`
  );
}

/** What is wrong with the boxes that variables name by plain id; those that a Box here holds are its business. */
async function unknownBox(pass: BoxPass, boxes: KindCache<Box>): Promise<Verdict | undefined> {
  const { resource, handle, priority, signal } = pass;
  for (const { name, boxId: id } of resource.spec.variables) {
    if (id === undefined || boxes.claimants(id).length > 0) continue;
    const field = `spec.variables: variable "${name}"`;
    const problem = await plainIdProblem(pass, { field, noun: 'box', id }, () =>
      handle.client.boxes.read(id, { priority, signal }),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Finds what the variables of a box, and of those that it contains, name: always in its own namespace. */
export function nestedIn({ metadata }: Box, boxes: KindCache<Box>): FindNested {
  const { namespace } = metadata;
  return ({ boxRef, boxId }) => {
    if (boxRef !== undefined) return boxes.get(`${namespace}/${boxRef.name}`);
    if (boxId === undefined) return undefined;
    return boxes.claimants(boxId).find((other) => other.metadata.namespace === namespace);
  };
}

/** The id of a nested box, once its content is in place. */
function idOf(
  name: string,
  box: Cached<Box> | undefined,
): { kind: 'found'; id: string } | { kind: 'waiting'; message: string } {
  if (box === undefined) return { kind: 'waiting', message: `Box "${name}" does not exist` };
  const { id, draftHash } = box.status;
  if (id === undefined || draftHash === undefined || box.metadata.deletionTimestamp !== undefined) {
    return { kind: 'waiting', message: `Box "${name}" is not in place yet` };
  }
  return { kind: 'found', id };
}
