import type { Box } from '../../api/box.ts';
import { AUTOMATIC_UPDATES, BOX_VISIBILITY, EVENT_NAMES, MEMBER_ROLES } from '../../api/words.ts';
import { canonicalJson } from '../../base/hash.ts';
import type { BoxRecord } from '../../service/index.ts';
import type { Cached, KindCache } from '../cache.ts';
import {
  hashOfVariables,
  readFile,
  resolveVariables,
  type BoxId,
  type DesiredFile,
  type ResolveContext,
} from '../content/variables.ts';
import type { OperatorContext } from '../context.ts';
import { domainOf } from '../digest.ts';
import type { DraftMemory } from '../draft/converge.ts';
import type { Attachment, DesiredEvent, Draft } from '../draft/draft.ts';
import { wireProfile } from '../draft/profile.ts';
import { awaitedProvider } from '../draft/provider.ts';
import type { Pass, Resolution } from '../record/kind.ts';
import { plainIdProblem } from '../record/plain-id.ts';
import { finalNameOf } from '../record/resource.ts';
import { verdict, type Verdict } from '../record/status/verdict.ts';
import { misnesting, NESTING_LIMIT, type Misnesting } from './cycle.ts';
import { nestedIn } from './nested-in.ts';

type BoxPass = Pass<Box, BoxRecord, DraftMemory>;

/** What a script is where nothing says otherwise. */
const SCRIPT = 'text/x-shellscript';
/** What a picture is, by the end of its name. */
const PICTURES: ReadonlyMap<string, string> = new Map([
  ['gif', 'image/gif'],
  ['ico', 'image/x-icon'],
  ['jpeg', 'image/jpeg'],
  ['jpg', 'image/jpeg'],
  ['png', 'image/png'],
  ['svg', 'image/svg+xml'],
  ['webp', 'image/webp'],
]);

/** Reads what a Box refers to. */
export async function resolveBox(
  pass: BoxPass,
  context: OperatorContext,
  boxes: KindCache<Box>,
): Promise<Resolution<Draft>> {
  const box = pass.resource;
  const { spec } = box;
  const wrong = misnesting(box, nestedIn(box, boxes));
  if (wrong !== undefined) return { kind: 'waiting', verdict: verdict('NeedsUser', misnested(wrong)) };
  const { digest, sources } = context;
  const { signal, secretsAfter } = pass;
  const { secrets } = pass.handle;
  const domain = domainOf(box);
  const sum = { files: 0, secrets: 0 };
  const reading = { domain, sources, digest, secrets, signal, secretsAfter, sum };
  const declared = { 'spec.variables': spec.variables, 'spec.overrides': spec.overrides };
  const variables = await resolveVariables(declared, {
    ...reading,
    boxId: (other, type) => idOf(box, other, type, boxes),
  });
  if (variables.kind === 'waiting') return variables;
  const unknown = await unknownBox(pass, boxes);
  if (unknown !== undefined) return { kind: 'waiting', verdict: unknown };
  const { cloudFormation } = spec;
  if (cloudFormation !== undefined) {
    const named = { field: 'spec.cloudFormation.providerId', id: cloudFormation.providerId };
    const waits = await awaitedProvider(pass, named);
    if (waits !== undefined) return { kind: 'waiting', verdict: waits };
  }
  const events = await eventsOf(box, reading);
  if ('reason' in events) return { kind: 'waiting', verdict: events };
  const attachments = await attachmentsOf(box, reading);
  if ('reason' in attachments) return { kind: 'waiting', verdict: attachments };

  const name = finalNameOf(box);
  const fields = { description: spec.description, requirements: spec.requirements };
  const service =
    cloudFormation === undefined ? undefined : serviceOf(cloudFormation, pass.handle.schemaBase);
  const dockerfile = attachments.find(({ field }) => field === 'dockerfile')?.file.hmac;
  // What is new in a later version and not declared leaves the hash of an earlier one as it is.
  const later = { ...service, dockerfile };
  const content = digest.of(
    canonicalJson({
      finalName: name,
      fields,
      events: events.map(({ event, destinationPath, contentType, file: { hmac } }) => ({
        event,
        destinationPath,
        hmac,
        contentType,
      })),
      ...later,
    }),
    hashOfVariables(variables.variables),
  );
  const sharing = sharingOf(box);
  return {
    kind: 'ready',
    desired: {
      name,
      fields,
      asked: { ...sharing.asked, ...service },
      variables: variables.variables,
      events,
      attachments,
      members: sharing.members,
      hash: digest.shown(domain, 'draftHash', content),
      about: aboutHash(box, attachments, (text) =>
        digest.shown(domain, 'aboutHash', digest.of('about', text)),
      ),
    },
  };
}

function serviceOf(
  { serviceType, providerId, profile }: NonNullable<Box['spec']['cloudFormation']>,
  schemaBase: string,
): Record<string, unknown> {
  return {
    type: serviceType,
    provider_id: providerId,
    ...(profile === undefined ? {} : { profile: wireProfile(profile, schemaBase) }),
  };
}

function sharingOf({ spec }: Box): Pick<Draft, 'asked' | 'members'> {
  return {
    asked: {
      visibility: BOX_VISIBILITY.toService(spec.visibility),
      automatic_updates: AUTOMATIC_UPDATES.toService(spec.automaticUpdates),
    },
    members: spec.members.map(({ workspace, role }) => ({ workspace, role: MEMBER_ROLES.toService(role) })),
  };
}

/** Keyed hash of what says nothing about what is deployed: who sees the box, and how it looks. */
function aboutHash(
  { spec }: Box,
  attachments: readonly Attachment[],
  hashOf: (text: string) => string,
): string | undefined {
  const { visibility, automaticUpdates, members } = spec;
  const files = attachments.flatMap(({ field, file }) =>
    field === 'dockerfile' ? [] : [[field, file.hmac]],
  );
  const isPlain = visibility === 'Workspace' && automaticUpdates === 'None';
  if (isPlain && members.length === 0 && files.length === 0) return undefined;
  const sorted = members.toSorted((a, b) => (a.workspace < b.workspace ? -1 : 1));
  return hashOf(canonicalJson({ visibility, automaticUpdates, members: sorted, files }));
}

type Reading = Omit<ResolveContext, 'boxId'>;

async function eventsOf({ spec }: Box, reading: Reading): Promise<DesiredEvent[] | Verdict> {
  const events: DesiredEvent[] = [];
  for (const word of EVENT_NAMES.ours) {
    const source = spec.events[word];
    if (source === undefined) continue;
    const event = EVENT_NAMES.toService(word);
    const { destinationPath, contentType } = source;
    const named = { fileName: event, contentType: contentType ?? SCRIPT };
    const file = await readFile(source, `events.${event}`, named, reading);
    if ('reason' in file) return { ...file, message: `spec.events.${word}: ${file.message}` };
    events.push({ event, destinationPath, contentType, file });
  }
  return events;
}

async function attachmentsOf({ spec }: Box, reading: Reading): Promise<Attachment[] | Verdict> {
  const { icon, readme, dockerfile } = spec;
  const end = icon?.configMapKeyRef.key.split('.').at(-1)?.toLowerCase() ?? '';
  const picture = PICTURES.get(end);
  if (icon !== undefined && picture === undefined) {
    const message = `spec.icon: key "${icon.configMapKeyRef.key}" does not say what picture it is`;
    return verdict('NeedsUser', `${message}: let it end in .${[...PICTURES.keys()].join(', .')}`);
  }
  const named = [
    // A short name: the icon of a record is the URL of the file, of 256 characters at most.
    ['icon', icon, `icon.${end}`, picture ?? ''],
    ['readme', readme, 'README.md', 'text/markdown'],
    ['dockerfile', dockerfile, 'Dockerfile', 'text/plain'],
  ] as const;
  const attachments: Attachment[] = [];
  for (const [field, source, fileName, contentType] of named) {
    if (source === undefined) continue;
    const file: DesiredFile | Verdict = await readFile(source, field, { fileName, contentType }, reading);
    if ('reason' in file) return { ...file, message: `spec.${field}: ${file.message}` };
    attachments.push({ field, file });
  }
  return attachments;
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
    const { namespace } = resource.metadata;
    if (id === undefined || boxes.holding(namespace, id).length > 0) continue;
    const field = `spec.variables: variable "${name}"`;
    const problem = await plainIdProblem(pass, { field, noun: 'box', id }, () =>
      handle.client.boxes.read(id, { priority, signal }),
    );
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The id of a box that a variable names: of a nested one, once its content is in place. */
function idOf(box: Box, name: string, type: string, boxes: KindCache<Box>): BoxId {
  const { namespace } = box.metadata;
  const other: Cached<Box> | undefined = boxes.get(`${namespace}/${name}`);
  const isGone = other?.metadata.deletionTimestamp !== undefined;
  const { id, draftHash } = other?.status ?? {};
  if (id !== undefined && !isGone && (type === 'Binding' || draftHash !== undefined)) {
    return { kind: 'found', id };
  }
  // Boxes may name each other in Bindings, and themselves: each is made without, so that all have an id.
  if (type === 'Binding' && box.status.id === undefined) return { kind: 'later' };
  const why = other === undefined ? 'does not exist' : 'is not in place yet';
  return { kind: 'waiting', message: `Box "${name}" ${why}` };
}
