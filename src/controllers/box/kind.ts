import type { Box } from '../../api/box.ts';
import { BOX_TYPES } from '../../api/words.ts';
import type { ResourceType } from '../../kube/index.ts';
import type { BoxRecord } from '../../service/index.ts';
import type { KindCache } from '../cache.ts';
import type { OperatorContext } from '../context.ts';
import { convergeDraft } from '../draft/converge.ts';
import type { Draft } from '../draft/draft.ts';
import { DRAFT_FORGOTTEN, draftKind, shownOf, type BoxType } from '../draft/kind.ts';
import type { Convergence, Pass, RecordKind, StatusFields } from '../record/kind.ts';
import type { ExtraCondition } from '../record/status/verdict.ts';
import { resolveBox } from './desired.ts';
import type { BoxMemory } from './memory.ts';
import { publish } from './publish.ts';
import { publishedCondition, readVersions, shownVersions, unpublished } from './versions.ts';

type BoxPass = Pass<Box, BoxRecord, BoxMemory>;

/** So many ids of other boxes status shows. */
const SHOWN_IDS = 100;

/** A Box as a record of the service. */
export function boxKind(options: {
  context: OperatorContext;
  type: ResourceType;
  boxes: KindCache<Box>;
  users: (box: Box) => { names: string[]; others: boolean };
}): RecordKind<Box, BoxRecord, Draft, BoxMemory> {
  const { context, boxes } = options;
  return {
    ...draftKind(({ spec }: Box) => BOX_TYPES.toService(spec.type) as BoxType),
    type: options.type,
    noun: 'box',
    forgotten: [
      ...DRAFT_FORGOTTEN,
      'aboutHash',
      'stack',
      'bindings',
      'organization',
      'draftFrom',
      'versions',
      'published',
      'publishing',
    ],
    resolve: (pass) => resolveBox(pass, context, boxes),
    converge: (pass, record, draft) => convergeBox(pass, record, draft),
    observe: (_pass, record) => ({ ...shownOf(record), ...boxShown(record) }),
    users: options.users,
    forgetUnwritten: (memory) => {
      if (memory.publishing?.outcome === 'unsent') memory.publishing = undefined;
    },
  };
}

async function convergeBox(pass: BoxPass, record: BoxRecord, draft: Draft): Promise<Convergence<Box>> {
  const { differs = false, ...done } = await convergeDraft<Box>(pass, record, draft);
  const { memory, resource } = pass;
  // What a PUT was answered with is newer than what the pass began with.
  const latest = memory.observed?.record ?? record;
  const fields = { ...done.fields, ...boxShown(latest) };
  const isSettled = done.verdict.reason === 'Settled' && done.again !== true;
  const next = isSettled && !differs ? await publish(pass, latest, draft) : undefined;
  if (next !== undefined) {
    const recheckAfterMs = next.verdict.recheckAfterMs ?? done.verdict.recheckAfterMs;
    const said = recheckAfterMs === undefined ? next.verdict : { ...next.verdict, recheckAfterMs };
    return { ...next, verdict: said, fields: { ...fields, ...next.fields } };
  }
  const extra = [...(done.verdict.extra ?? []), ...versionOf(resource, draft, isSettled && differs)];
  return {
    ...done,
    verdict: extra.length === 0 ? done.verdict : { ...done.verdict, extra },
    fields: { ...fields, ...(isSettled ? await versionsShown(pass, latest) : {}) },
  };
}

/** What there is to say of the version that is declared. */
function versionOf({ spec, status }: Box, draft: Draft, isLeftAlone: boolean): ExtraCondition[] {
  const number = spec.publish?.version;
  if (number === undefined) return [];
  if (status.published?.number === number) return [publishedCondition(status.published, draft)];
  return isLeftAlone ? [unpublished(number)] : [];
}

/** Which versions there are, once for each time that the record was read singly. */
async function versionsShown(pass: BoxPass, record: BoxRecord): Promise<StatusFields<Box>> {
  const { memory, resource } = pass;
  const { startedAt } = memory.observed ?? {};
  const isKnown = record.draft_from === undefined && resource.status.versions === undefined;
  if (isKnown || startedAt === undefined || memory.versionsOf === startedAt) return {};
  memory.versionsOf = startedAt;
  const versions = await readVersions(pass, record.id);
  if (versions.kind !== 'found') return {};
  const shown = shownVersions(versions.record);
  return { versions: shown.length === 0 ? undefined : shown };
}

/** What the record shows of itself beyond what is declared. */
function boxShown({ id, variables = [], organization, draft_from: draftFrom }: BoxRecord): StatusFields<Box> {
  const named = (type: string): string[] =>
    [...new Set(variables.filter((one) => one.type === type).map(({ value }) => value))]
      .filter((value): value is string => typeof value === 'string' && value !== '')
      .toSorted()
      .slice(0, SHOWN_IDS - 1);
  const [nested, bindings] = [named('Box'), named('Binding')];
  return {
    stack: nested.length === 0 ? undefined : [id, ...nested],
    bindings: bindings.length === 0 ? undefined : bindings,
    organization: typeof organization === 'string' && organization !== '' ? organization : undefined,
    draftFrom: typeof draftFrom === 'string' && draftFrom !== '' ? draftFrom : undefined,
  };
}
