import { isMarker } from '../../../api/schema/rules.ts';
import { rfc3339 } from '../../../base/rfc3339.ts';
import { idOf } from '../../../controllers/instance/status.ts';
import { readLease } from '../../../controllers/instance/lease/terms.ts';
import { pairOf, phaseOf } from '../../../controllers/instance/pair.ts';
import type { InstanceRecord } from '../../../service/index.ts';
import { drawName, type DrawContext } from './box.ts';
import type { Contents } from './contents.ts';
import { Sketch } from './sketch.ts';
import { drawVariables } from './variables.ts';

/** The manifest of an instance, as far as its record can be declared; a sentence where none is to be made. */
export async function drawInstance(
  record: InstanceRecord,
  contents: Contents,
  context: DrawContext,
): Promise<Sketch | string> {
  const { known, files, common } = context;
  const phase = phaseOf(pairOf(record));
  if (phase === 'Terminated') return 'it is terminated: only its record and logs are left';
  const [box, policyBox] = [idOf(record.box), idOf(record.policy_box)];
  const base = {
    ...common,
    ...(box === undefined ? {} : known.refer('Box', box)),
    ...(policyBox === undefined ? {} : known.refer('PolicyBox', policyBox)),
  };
  const name = context.nameOf(record.id);
  // A name of up to 63 characters needs one on the service beside it, which has at most 30.
  const named = record.name === undefined || record.name === name ? base : { ...base, name: record.name };
  const sketch = new Sketch('Instance', { name, id: record.id, values: context.values }, named);
  if (sketch.problem !== undefined) return sketch;
  drawName(sketch, record);
  await drawVariables(sketch, record.variables ?? [], 'instance', { known, file: files.of(contents) });
  for (const tag of record.tags ?? [])
    if (!isMarker(tag)) sketch.add('tags', { key: tag, value: tag, to: 'list' });
  drawRest(sketch, record, phase);
  return sketch;
}

/** What decides over machines is not declared: whoever does so decides it. */
function drawRest(sketch: Sketch, record: InstanceRecord, phase: string): void {
  const lease = readLease(record.lease);
  if (lease !== undefined && lease.operation !== 'AlwaysOn') {
    const end = lease.expire === undefined ? '' : ` at ${rfc3339(lease.expire)}`;
    sketch.remark(`its lease (${lease.operation}${end}) stays as it is: declare spec.lease to manage it`);
  }
  if (phase === 'ShutDown') sketch.remark('it is shut down: declare spec.powerState to manage its power');
  else if (phase !== 'Online') sketch.remark(`it was ${phase} when this was written`);
  const { members = [], automatic_updates: updates = 'off' } = record;
  if (members.length > 0) sketch.remark('its members cannot be declared yet, and stay as they are');
  if (updates !== 'off')
    sketch.remark(`automatic_updates ${JSON.stringify(updates)} cannot be declared yet, and stays`);
}
