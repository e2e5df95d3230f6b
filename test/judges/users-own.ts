import { isDeepStrictEqual } from 'node:util';
import { ANNOTATIONS, FINALIZER } from '../../src/api/names.ts';
import type { Shown } from '../support/world.ts';
import type { Court, Judge } from './judge.ts';

const OPERATORS: ReadonlySet<string> = new Set([
  ANNOTATIONS.externalId,
  ANNOTATIONS.claim,
  ANNOTATIONS.createIntent,
  ANNOTATIONS.deployedLease,
  'boxwright.dev/claim-seal',
]);

/** The user's object is the user's: no write of the operator changes spec, labels, or what others wrote. */
export function usersOwn(court: Court): Judge {
  return {
    wrote({ resource, key, before, after, request }) {
      if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return;
      if (request.method !== 'PATCH' && request.method !== 'PUT') return;
      const { spec } = request.body as { spec?: unknown };
      if (spec !== undefined) court.object(`${resource} ${key}: the operator writes spec`);
      // Somebody may have written between what we saw last and this: only what the version says is ours counts.
      const sent = (request.body as { metadata?: { resourceVersion?: string } }).metadata?.resourceVersion;
      if (sent !== before.metadata.resourceVersion) return;
      if (!isDeepStrictEqual(labelsOf(before), labelsOf(after)))
        court.object(`${resource} ${key}: the operator changes labels`);
      const [was, is] = [othersOf(before), othersOf(after)];
      const changed = [...new Set([...was.keys(), ...is.keys()])].filter(
        (name) => was.get(name) !== is.get(name),
      );
      if (changed.length > 0)
        court.object(
          `${resource} ${key}: the operator changes what others wrote into its metadata (${changed.join(', ')})`,
        );
    },
  };
}

function labelsOf({ metadata }: Shown): unknown {
  return (metadata as { labels?: unknown }).labels ?? {};
}

/** Annotations and finalizers of others, by name. */
function othersOf({ metadata }: Shown): Map<string, unknown> {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) => !OPERATORS.has(name));
  const finalizers = (metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
  return new Map<string, unknown>([
    ...annotations,
    ...finalizers.map((name) => [name, 'finalizer'] as const),
  ]);
}
