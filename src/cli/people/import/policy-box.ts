import type { BoxRecord } from '../../../service/index.ts';
import { drawName, type DrawContext } from './box.ts';
import type { Contents } from './contents.ts';
import { relativeProfile } from './profile.ts';
import { Sketch } from './sketch.ts';
import { drawVariables } from './variables.ts';

/** Fields of a policy box that its kind does not have, with what they are where nobody has set them. */
const UNDECLARED = { visibility: 'workspace', automatic_updates: 'off' } as const;

/** The manifest of a policy box, as far as its record can be declared. */
export async function drawPolicyBox(
  record: BoxRecord,
  contents: Contents,
  context: DrawContext,
): Promise<Sketch> {
  const { known, files, common, schemaBase } = context;
  const profile = relativeProfile(record.profile, schemaBase);
  const base = { ...common, providerId: record.provider_id, ...(profile === undefined ? {} : { profile }) };
  const sketch = new Sketch(
    'PolicyBox',
    { name: context.nameOf(record.id), id: record.id, values: context.values },
    base,
  );
  if (sketch.problem !== undefined) return sketch;
  drawName(sketch, record);
  if ((record.description ?? '') !== '') sketch.set('description', record.description);
  for (const claim of record.claims ?? []) sketch.add('claims', { key: claim, value: claim, to: 'list' });
  drawLifespan(sketch, record.lifespan);
  await drawVariables(sketch, record.variables ?? [], 'policyBox', { known, file: files.of(contents) });
  for (const [field, usual] of Object.entries(UNDECLARED)) {
    const value = record[field] ?? usual;
    if (value !== usual) sketch.remark(`${field} ${JSON.stringify(value)} cannot be declared yet, and stays`);
  }
  for (const field of ['members', 'icon', 'readme']) {
    const value = record[field];
    const isThere = Array.isArray(value)
      ? value.length > 0
      : value !== undefined && value !== null && value !== '';
    if (isThere) sketch.remark(`${field} cannot be declared yet, and stays as it is on the service`);
  }
  return sketch;
}

function drawLifespan(sketch: Sketch, lifespan: BoxRecord['lifespan']): void {
  const { operation, interval, quantity } = lifespan ?? {};
  if (operation === undefined || operation === 'none') return;
  if (operation === 'terminate' && interval === 'hours')
    sketch.set('lifespan', { operation: 'Terminate', after: `${String(quantity)}h` });
  else sketch.remark('the lifespan is not one of whole hours that ends in terminate, and stays as it is');
}
