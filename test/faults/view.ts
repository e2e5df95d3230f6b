import { KIND_NAMES } from '../../src/api/kinds.ts';
import { canonicalJson, sha256Base32 } from '../../src/base/hash.ts';
import { ANNOTATIONS } from '../../src/api/names.ts';
import type { Shown } from '../support/world.ts';
import { markerOf } from '../../src/controllers/record/identity/marker.ts';
import { FAULTS_TOUCHED } from './own.ts';
import type { Stage } from './stage.ts';
import { OURS, type Strangers } from './strangers.ts';

type Json = Record<string, unknown>;
interface Doc extends Json {
  id: string;
  name: string;
}

/**
 * Everything that two runs must agree upon: the records of ours on the service and the resources, without
 * ids, times and keyed hashes. One line each, so that a difference can be read.
 */
export function viewOf(
  stage: Pick<Stage, 'sandbox' | 'list' | 'namespace'>,
  strangers: Pick<Strangers, 'has'>,
  installation: string,
): string[] {
  const { admin } = stage.sandbox;
  const boxes = admin.records('boxes') as unknown as Doc[];
  const instances = (admin.records('instances') as unknown as Doc[]).filter(({ id }) => !strangers.has(id));
  const names = new Map<string, string>();
  for (const { id, name } of [...boxes, ...instances]) names.set(id, `<id of ${name}>`);
  names.set(installation, '<installation>');
  for (const kind of KIND_NAMES) {
    for (const name of [...OURS.boxes, ...OURS.policyBoxes, ...OURS.instances]) {
      const marker = markerOf(installation, { kind, namespace: stage.namespace, name });
      names.set(marker, `<marker of ${kind} ${name}>`);
    }
  }
  for (const { id, content } of admin.snapshot().content)
    names.set(id, `<blob ${sha256Base32(content).slice(0, 8)}>`);
  const plain = (value: unknown): string => neutral(canonicalJson(value), names);

  const lines: string[] = [];
  for (const { id, created: _c, updated: _u, ...box } of boxes) {
    if (!strangers.has(id)) lines.push(`record of a box: ${plain(box)}`);
  }
  const now = admin.now();
  for (const instance of instances) {
    lines.push(`record of an instance: ${plain(shownInstance(instance, now))}`);
    if (!leasesAgree(instance, stage.list('Instance')))
      lines.push('record and status disagree about the lease');
  }
  for (const { id, name } of instances) {
    const operations = (admin.records('operations') as unknown as Json[])
      .filter((operation) => operation['instance'] === id)
      .map((operation) => `${String(operation['operation'])}=${String(operation['state'])}`);
    lines.push(`operations of ${name}: ${operations.join(', ')}`);
  }
  for (const kind of KIND_NAMES) {
    for (const object of stage.list(kind)) lines.push(`${kind}: ${plain(shownResource(object))}`);
  }
  return lines.toSorted();
}

function shownInstance(instance: Doc, now: number): Json {
  const { name, owner, box, policyVariables, variables, tags, state, ipv4_address: address } = instance;
  const { lease, operation, service } = instance as unknown as {
    lease?: { operation: string; released: boolean; expire?: string };
    operation: { event: string };
    service: { machines: { state: string }[] };
  };
  return {
    name,
    owner,
    box,
    policyVariables,
    variables,
    tags,
    state,
    address,
    event: operation.event,
    machines: service.machines.map((machine) => machine.state),
    ...(lease === undefined
      ? {}
      : {
          lease: {
            ...lease,
            ...(lease.expire === undefined ? {} : { expire: hoursLeft(lease.expire, now) }),
          },
        }),
  };
}

/** Whole hours begun, a minute for the rounding aside: recovery may put the start of a lease off by minutes. */
function hoursLeft(expire: string, now: number): string {
  return `in ${Math.ceil((Date.parse(expire.endsWith('Z') ? expire : `${expire.replace(' ', 'T')}Z`) - now - 60_000) / 3_600_000)} h`;
}

/** Whether status says the end that the record has. */
function leasesAgree(instance: Doc, resources: readonly Shown[]): boolean {
  const resource = resources.find(({ status }) => status?.id === instance.id);
  const shown = (resource?.status?.['lease'] as { expire?: string } | undefined)?.expire;
  const { expire } = (instance['lease'] ?? {}) as { expire?: string };
  return resource === undefined || shown?.slice(0, 16) === expire?.replace(' ', 'T').slice(0, 16);
}

function shownResource(object: Shown): Json {
  const { name, finalizers, annotations, generation } = object.metadata;
  const { labels } = object.metadata as { labels?: Json };
  const { status = {} } = object;
  return {
    name,
    generation,
    finalizers,
    labels,
    annotations: Object.fromEntries(
      Object.entries(annotations ?? {}).filter(([key]) => !NOT_COMPARED.includes(key)),
    ),
    spec: object.spec,
    status: {
      ...status,
      // The answer to the harness’s own request for another try.
      lastHandledRequest: undefined,
      conditions: status.conditions?.map((condition) => ({ ...condition, lastTransitionTime: undefined })),
    },
  };
}

/** What the harness itself writes: to move a version, and to ask for another try. */
const NOT_COMPARED: readonly string[] = [FAULTS_TOUCHED, ANNOTATIONS.requestedAt];

/** Text without what differs from run to run. */
function neutral(text: string, names: ReadonlyMap<string, string>): string {
  let out = text;
  for (const [id, name] of names) out = out.replaceAll(id, name);
  return (
    out
      .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?/g, '<time>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
      .replace(/\beb-[a-z0-9]{5}\b/g, '<service>')
      .replace(/\b[a-z2-7]{8}:[a-z2-7]{32}\b/g, '<keyed hash>')
      .replace(/\b[a-z2-7]{8}\/([^/"\\]+\/[^/"\\]+)\/[a-z2-7]{32}\b/g, '<key>/$1/<seal>')
      .replace(/http%3A%2F%2F127\.0\.0\.1%3A\d+/g, '<endpoint>')
      // In JSON, and in the JSON that an annotation holds.
      .replace(/(\\?")[a-z2-7]{24}\1/g, '$1<hash>$1')
      .replace(/http:\/\/127\.0\.0\.1:\d+/g, '<endpoint>')
      .replace(/"upload_date":"[^"]*"/g, '"upload_date":"<time>"')
  );
}
