import * as fc from 'fast-check';
import type { ANNOTATIONS } from '../../../src/api/names.ts';

/** The kinds that stand for a record. */
export const KINDS = ['Box', 'PolicyBox', 'Instance'] as const;
export type Kind = (typeof KINDS)[number];

/** Where a part of what is written comes from. */
export type Source = 'own' | 'victim' | 'dead' | 'other' | 'nothing';
const sources = fc.constantFrom<Source>('own', 'victim', 'dead', 'other', 'nothing');

/** Annotations as an author makes them up: by their sources, or as texts that stand for themselves. */
export interface Forged {
  externalId?: Source;
  claim?: { installation: Source; marker: Source; uid: Source } | string;
  claimSeal?: string;
  createIntent?: { skip: Source; at: string; expire?: string; uid: Source } | string;
  deployedLease?: string;
  adopt?: string;
  asks?: keyof typeof ANNOTATIONS;
}

/** One thing that the author does to a resource of his own. */
export type Deed =
  | { do: 'annotate'; with: Forged }
  | { do: 'wipe annotations' }
  /** All annotations and finalizers of the victim's, as they are. */
  | { do: 'copy metadata' }
  | { do: 'edit'; spec: Readonly<Record<string, unknown>> }
  | { do: 'finalizers'; ours: boolean; theirs: boolean }
  | { do: 'delete' }
  /** As a manifest that was read before: with all annotations that it ever had. */
  | { do: 'recreate'; older: boolean }
  | { do: 'connect'; to: Connection }
  | { do: 'wait'; seconds: number }
  | { do: 'restart the operator' };

/**
 * What a resource of the author's reaches: the victim's service with the same account, the same by another spelling of
 * its endpoint, nothing, or a service of his own.
 */
export type Connection = 'main' | 'spelt' | 'absent' | 'evil';

/** A resource of the author's, and what becomes of it. */
export interface Attack {
  kind: Kind;
  older: boolean;
  connection: Connection;
  forged: Forged;
  finalizer: boolean;
  spec: Readonly<Record<string, unknown>>;
  /** It names records of the victim's by their ids. */
  namesIds: boolean;
  deeds: readonly Deed[];
}

/** Mostly not there: what does most harm stands alone. */
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 1 });
const garbage = fc.constantFrom('', '/', '///', '{}', 'x'.repeat(3_000), '\u{1f600}', 'aaaaaaaa/%/%/bbbb');

const anything: fc.Arbitrary<Forged> = fc
  .record({
    externalId: maybe(fc.oneof({ weight: 5, arbitrary: fc.constant<Source>('victim') }, sources)),
    claim: maybe(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({
            installation: fc.constantFrom<Source>('own', 'other'),
            marker: sources,
            uid: sources,
          }),
        },
        {
          weight: 4,
          arbitrary: fc.record({
            installation: fc.constant<Source>('own'),
            marker: fc.constant<Source>('own'),
            uid: sources,
          }),
        },
        garbage,
      ),
    ),
    claimSeal: maybe(fc.oneof({ weight: 5, arbitrary: sources }, garbage)),
    createIntent: maybe(
      fc.oneof(
        fc.record({
          skip: sources,
          at: fc.constantFrom('2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z', 'x'),
          uid: sources,
        }),
        garbage,
      ),
    ),
    deployedLease: maybe(garbage),
    adopt: maybe(
      fc.oneof(
        { weight: 5, arbitrary: fc.constant<Source>('victim') },
        { weight: 2, arbitrary: sources },
        garbage,
      ),
    ),
    asks: maybe(
      fc.constantFrom<keyof typeof ANNOTATIONS>(
        'requestedAt',
        'paused',
        'renew',
        'requestReinstall',
        'requestRedeploy',
      ),
    ),
  })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));

/** What most likely does harm comes alone often enough: something else beside it may spoil it. */
const forged: fc.Arbitrary<Forged> = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Forged>({ adopt: 'victim' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      externalId: fc.constant<Source>('victim'),
      claim: fc.record({
        installation: fc.constant<Source>('own'),
        marker: fc.constantFrom<Source>('own', 'victim'),
        uid: fc.constantFrom<Source>('own', 'dead', 'victim'),
      }),
      claimSeal: sources,
    }),
  },
  { weight: 3, arbitrary: anything },
  { weight: 1, arbitrary: fc.constant<Forged>({}) },
);

const specs = fc.constantFrom<Readonly<Record<string, unknown>>>(
  {},
  { paused: true },
  { paused: false },
  { deletionPolicy: 'Orphan' },
  { deletionPolicy: 'Delete' },
  { managementPolicy: 'Observe' },
  { managementPolicy: 'Full' },
  { onMissing: 'Recreate' },
  { onMissing: 'Hold' },
  { driftPolicy: 'Correct' },
  { driftPolicy: 'Report' },
  { description: 'taken' },
  { name: 'web' },
  { tags: ['taken'] },
  { powerState: 'Stopped' },
  { owner: 'shop' },
);
const connections = fc.constantFrom<Connection>('main', 'spelt', 'absent', 'evil');

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('annotate' as const), with: forged }) },
  { weight: 1, arbitrary: fc.constant<Deed>({ do: 'wipe annotations' }) },
  { weight: 2, arbitrary: fc.constant<Deed>({ do: 'copy metadata' }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('edit' as const), spec: specs }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('finalizers' as const),
      ours: fc.boolean(),
      theirs: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.constant<Deed>({ do: 'delete' }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('recreate' as const), older: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('connect' as const), to: connections }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(1, 10, 70, 700) }),
  },
  { weight: 1, arbitrary: fc.constant<Deed>({ do: 'restart the operator' }) },
);

/** All that an author with the right to edit resources of his own can do. */
export const attacks: fc.Arbitrary<Attack> = fc.record({
  // A box does not carry a marker for long.
  kind: fc.constantFrom('Box', ...KINDS),
  older: fc.boolean(),
  connection: connections,
  forged,
  finalizer: fc.boolean(),
  spec: specs,
  namesIds: fc.boolean(),
  deeds: fc.array(deed, { maxLength: 6 }),
});
