import type { Box, EventName } from '../../../api/box.ts';
import {
  AUTOMATIC_UPDATES,
  BOX_TYPES,
  BOX_VISIBILITY,
  EVENT_NAMES,
  MEMBER_ROLES,
} from '../../../api/words.ts';
import { urlIn } from '../../../controllers/draft/draft.ts';
import type { BoxRecord } from '../../../service/index.ts';
import type { Contents } from './contents.ts';
import type { Files } from './files.ts';
import type { KnownValues } from './known-values.ts';
import { relativeProfile } from './profile.ts';
import type { Known } from './references.ts';
import { Sketch } from './sketch.ts';
import { drawVariables } from './variables.ts';

/** What records are turned into manifests with. */
export interface DrawContext {
  known: Known;
  files: Files;
  schemaBase: string;
  /** What every manifest of a record says: its connection, its policies, its owner. */
  common: Readonly<Record<string, unknown>>;
  values: KnownValues;
  /** Names of resources, by id. */
  nameOf: (id: string) => string;
}

/** What a script is where nothing says otherwise. */
const SCRIPT = 'text/x-shellscript';
const PICTURE = /\.(gif|ico|jpe?g|png|svg|webp)$/i;

/** Whether a record is a box of a type that the kind Box has. */
export function boxTypeOf({ schema = '' }: BoxRecord): Box['spec']['type'] | undefined {
  return BOX_TYPES.fromService(schema.split('/').at(-1) ?? '');
}

/** The manifest of a box, as far as its record can be declared. */
export async function drawBox(record: BoxRecord, contents: Contents, context: DrawContext): Promise<Sketch> {
  const { known, files, common, schemaBase } = context;
  const name = context.nameOf(record.id);
  const type = boxTypeOf(record);
  const base = { ...common, type };
  const service = type === 'CloudFormation' ? cloudFormationOf(record, schemaBase) : {};
  const sketch = new Sketch('Box', { name, id: record.id, values: context.values }, { ...base, ...service });
  if (sketch.problem !== undefined) return sketch;
  drawName(sketch, record);
  if ((record.description ?? '') !== '') sketch.set('description', record.description);
  for (const requirement of record.requirements ?? [])
    sketch.add('requirements', { key: requirement, value: requirement, to: 'list' });
  await drawVariables(sketch, record.variables ?? [], 'box', { known, file: files.of(contents) });
  for (const [event, { url, destination_path: path, content_type: contentType }] of Object.entries(
    record.events ?? {},
  )) {
    const word: EventName | undefined = EVENT_NAMES.fromService(event);
    if (word === undefined) {
      sketch.remark(`event ${JSON.stringify(event)} is not known, and stays as it is on the service`);
      continue;
    }
    const found = await files.place(contents, `events.${word}`, url);
    if ('problem' in found) {
      sketch.remark(
        `spec.events.${word} is not declared, and stays as it is on the service: ${found.problem}`,
      );
      continue;
    }
    const value = {
      ...found.source,
      ...(path === undefined ? {} : { destinationPath: path }),
      ...(contentType === undefined || contentType === null || contentType === SCRIPT ? {} : { contentType }),
    };
    const isTaken =
      sketch.add('events', { key: word, value, to: 'map' }) ||
      sketch.add('events', { key: word, value: found.source, to: 'map' });
    if (isTaken) sketch.hasFiles = true;
  }
  drawSharing(sketch, record);
  await drawAttachments(sketch, record, contents, files);
  return sketch;
}

/** The name on the service, where it is another than that of the resource. */
export function drawName(sketch: Sketch, { name }: { name?: string }): void {
  if (name !== undefined && name !== sketch.name) sketch.set('name', name);
}

function cloudFormationOf(record: BoxRecord, schemaBase: string): Record<string, unknown> {
  const profile = relativeProfile(record.profile, schemaBase);
  return {
    cloudFormation: {
      serviceType: record['type'],
      providerId: record.provider_id,
      ...(profile === undefined ? {} : { profile }),
    },
  };
}

function drawSharing(sketch: Sketch, record: BoxRecord): void {
  const { visibility = 'workspace', automatic_updates: updates = 'off', members = [] } = record;
  const seen = BOX_VISIBILITY.fromService(visibility);
  if (seen === undefined) sketch.remark(`visibility ${JSON.stringify(visibility)} is not known`);
  else if (seen !== 'Workspace') sketch.set('visibility', seen);
  const followed = AUTOMATIC_UPDATES.fromService(updates);
  if (followed === undefined) sketch.remark(`automatic_updates ${JSON.stringify(updates)} is not known`);
  else if (followed !== 'None') sketch.set('automaticUpdates', followed);
  for (const { workspace = '', role = '' } of members) {
    const value = { workspace, role: MEMBER_ROLES.fromService(role) ?? role };
    sketch.add('members', { key: workspace, value, to: 'list' });
  }
}

async function drawAttachments(
  sketch: Sketch,
  record: BoxRecord,
  contents: Contents,
  files: Files,
): Promise<void> {
  for (const field of ['icon', 'readme', 'dockerfile'] as const) {
    const url = urlIn(record[field]);
    if (url === undefined) continue;
    const [end] = PICTURE.exec(url) ?? [];
    const key = { icon: `icon${end?.toLowerCase() ?? ''}`, readme: 'README.md', dockerfile: 'Dockerfile' }[
      field
    ];
    const found =
      field === 'icon' && end === undefined
        ? { problem: 'its address does not say what picture it is' }
        : await files.place(contents, key, url, field === 'icon' ? 'configMap' : 'any');
    if ('problem' in found) {
      sketch.remark(`spec.${field} is not declared, and stays as it is on the service: ${found.problem}`);
    } else if (sketch.set(field, found.source)) {
      sketch.hasFiles = true;
    }
  }
}
