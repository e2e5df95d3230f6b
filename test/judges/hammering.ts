import type { Court, Judge, ServiceCall } from './judge.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** What may pass by itself, or is accepted and comes to nothing, in an hour; what is refused, in a day. */
const PER_HOUR = 20;
const REFUSED_PER_DAY = 12;

/**
 * Whatever is answered the same is sent ever more slowly: per resource and call at most 20 times an hour, and 12
 * times a day where it is refused. Each change that a person makes meanwhile is worth one more.
 */
export function hammering(court: Court): Judge {
  const sent = new Map<string, number[]>();
  const people: number[] = [];
  return {
    changed({ resource, now, before }) {
      const edited =
        now === undefined ||
        before === undefined ||
        now.metadata.generation !== before.metadata.generation ||
        now.metadata.deletionTimestamp !== before.metadata.deletionTimestamp ||
        JSON.stringify(asked(now)) !== JSON.stringify(asked(before)) ||
        /^(secrets|configmaps)$/.test(resource);
      if (edited) people.push(court.now());
    },
    called(call) {
      if (call.method === 'GET' || call.status === undefined || call.path.startsWith('/services/security/'))
        return;
      const refused = isRefusal(call);
      const key = `${call.by} ${call.method} ${call.path} ${refused ? 'refused' : `answered ${call.status}`}`;
      const times = sent.get(key) ?? [];
      sent.set(key, times);
      times.push(court.now());
      const span = refused ? DAY_MS : HOUR_MS;
      const since = court.now() - span;
      while ((times[0] ?? Infinity) < since) times.shift();
      const edits = people.filter((at) => at >= since).length;
      const limit = (refused ? REFUSED_PER_DAY : PER_HOUR) + edits;
      if (times.length > limit) {
        court.object(`${key}: ${times.length} times within ${span / HOUR_MS} h`);
        sent.set(key, []);
      }
    },
  };
}

function isRefusal({ status = 0 }: ServiceCall): boolean {
  return status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429;
}

/** Annotations that a person asks with. */
function asked({ metadata }: { metadata: { annotations?: Record<string, string> } }): unknown {
  return Object.entries(metadata.annotations ?? {}).filter(([name]) =>
    /requested-at|request-|renew|adopt|paused/.test(name),
  );
}
