import { kindOf, type KindName } from '../../../api/kinds.ts';
import { ANNOTATIONS } from '../../../api/names.ts';
import { CONDITIONS, factsOf, REASONS, type Reason } from '../../../api/reasons.ts';
import type { TSchema } from 'typebox';
import { printable } from '../../terminal.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import { entryOf, type Entry } from '../status/entry.ts';
import { declaredOf, foundOf } from './fields.ts';
import type { Keeper } from './who.ts';

/** Something that happened, as an Event of the cluster tells it. */
export interface Happened {
  at: string;
  type: string;
  reason: string;
  note: string;
  count: number;
}

/** Everything that a page of words is made of; programs get it as it is. */
export interface Explanation {
  entry: Entry;
  /** What the reason means. */
  situation: string | undefined;
  declared: unknown;
  record: { id: string; endpoint?: string; owner?: string } | undefined;
  found: Readonly<Record<string, unknown>>;
  differs: readonly { field: string; want?: string; have?: string }[];
  /** What ended last, where it did not end well. */
  lastFailure: { what: string; at: string | undefined; message: string } | undefined;
  refusedRequest: { operation: string; message: string } | undefined;
  /** The installation that the claim on the record names. */
  claimedBy: string | undefined;
  /** The installation whose operator looks after the resource, where the person may see it. */
  installation: string | undefined;
  /** Sentences of conditions that name another claimant. */
  disputes: readonly string[];
  keeper: Keeper;
  events: readonly Happened[];
  nextSteps: readonly string[];
}

/** Conditions and differences have sections of their own. */
const TOLD_ELSEWHERE: ReadonlySet<string> = new Set(['conditions', 'drift', 'lastHandledRequest', 'uri']);
const CLAIM_REASONS: ReadonlySet<string> = new Set<Reason>(['Conflict', 'Ambiguous', 'NameTaken']);

interface RecordStatus {
  id?: string;
  home?: { endpoint?: string; owner?: string };
  drift?: { field: string; want?: string; have?: string }[];
  lastOperation?: { event?: string; outcome?: string; endedAt?: string; message?: string };
  refusedRequest?: { operation: string; message: string };
}

/** What is known of a resource. Works on one without any status. */
export function explanationOf(
  resource: WatchedResource,
  keeper: Keeper,
  events: readonly Happened[],
  installation?: string,
): Explanation {
  const entry = entryOf(resource);
  const { schema, structural } = kindOf(resource.kind as KindName);
  const status = (resource.status ?? {}) as RecordStatus & Record<string, unknown>;
  const last = status.lastOperation;
  const conditions = resource.status?.conditions ?? [];
  return {
    entry,
    situation: situationOf(entry.reason),
    declared: declaredOf(resource.spec ?? {}, structural().properties?.['spec']),
    record:
      status.id === undefined
        ? undefined
        : {
            id: printable(status.id),
            ...pick(status.home?.endpoint, 'endpoint'),
            ...pick(status.home?.owner, 'owner'),
          },
    found: foundOf(
      status,
      (schema.properties as Record<string, TSchema>)['status'] as TSchema,
      TOLD_ELSEWHERE,
    ),
    differs: (status.drift ?? []).map(({ field, want, have }) => ({
      field: printable(field),
      ...pick(want, 'want'),
      ...pick(have, 'have'),
    })),
    lastFailure:
      last?.outcome === 'Failed'
        ? { what: printable(last.event ?? ''), at: last.endedAt, message: printable(last.message ?? '') }
        : undefined,
    refusedRequest:
      status.refusedRequest === undefined
        ? undefined
        : {
            operation: printable(status.refusedRequest.operation),
            message: printable(status.refusedRequest.message),
          },
    claimedBy: claimantIn(resource.metadata.annotations?.[ANNOTATIONS.claim]),
    installation: installation === undefined ? undefined : printable(installation),
    disputes: conditions
      .filter(
        ({ reason, status: is, type }) =>
          CLAIM_REASONS.has(reason) && (is === 'True') !== (type === CONDITIONS.ready),
      )
      .map(({ message }) => printable(message))
      .filter((message, index, all) => all.indexOf(message) === index),
    keeper,
    events,
    nextSteps: [entry.nextStep, keeper.nextStep].filter((step) => step !== undefined),
  };
}

/** The installation is the first part of a claim. */
function claimantIn(claim: string | undefined): string | undefined {
  const [installation = ''] = (claim ?? '').split('/');
  return installation === '' ? undefined : printable(installation);
}

function situationOf(reason: string): string | undefined {
  return Object.hasOwn(REASONS, reason) ? factsOf(reason as Reason).situation : undefined;
}

function pick<K extends string>(value: string | undefined, key: K): Partial<Record<K, string>> {
  return value === undefined ? {} : ({ [key]: printable(value) } as Record<K, string>);
}
