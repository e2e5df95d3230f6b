import { EVENTS, KubeApiError, type KubeObject } from '../../../kube/index.ts';
import { printable } from '../../terminal.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import type { Cluster } from '../cluster.ts';
import type { Happened } from './facts.ts';

interface EventObject extends KubeObject {
  eventTime?: string;
  type?: string;
  reason?: string;
  note?: string;
  series?: { count?: number; lastObservedTime?: string };
}

const SHOWN = 5;

/** The latest Events about a resource, the newest first; none where the person may not list them. */
export async function eventsOf(
  { kube }: Cluster,
  { metadata: { namespace, uid, name } }: WatchedResource,
  signal: AbortSignal,
): Promise<Happened[]> {
  let events: EventObject[];
  try {
    const fieldSelector = `regarding.name=${name},regarding.uid=${uid}`;
    events = await kube.list<EventObject>(EVENTS, { namespace, fieldSelector, signal });
  } catch (error) {
    if (error instanceof KubeApiError && error.status === 403) return [];
    throw error;
  }
  return events
    .map((event) => ({
      at: event.series?.lastObservedTime ?? event.eventTime ?? event.metadata.creationTimestamp ?? '',
      type: printable(event.type ?? ''),
      reason: printable(event.reason ?? ''),
      note: printable(event.note ?? ''),
      count: event.series?.count ?? 1,
    }))
    .toSorted((a, b) => b.at.localeCompare(a.at))
    .slice(0, SHOWN);
}
