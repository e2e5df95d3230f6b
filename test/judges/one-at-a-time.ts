import type { Court, Judge, ServiceCall } from './judge.ts';

/** Writes to one record go one at a time, and none but a forced end goes to one that was seen to be at work. */
export function oneAtATime(court: Court): Judge {
  const flying = new Map<string, ServiceCall>();
  /** State of each instance by the newest answer that showed it, singly or, where it was seen before, in a list. */
  const shown = new Map<string, string>();
  return {
    started: () => flying.clear(),
    calling(call) {
      if (call.record === undefined || call.method === 'GET') return;
      const { id } = call.record;
      const other = flying.get(id);
      if (other !== undefined)
        court.object(`${call.method} ${call.path} goes out while ${other.method} ${other.path} is under way`);
      flying.set(id, call);
      if (shown.get(id) === 'processing' && !call.path.includes('force_terminate'))
        court.object(`${call.method} ${call.path} goes out although the instance was seen processing`);
    },
    called(call) {
      if (call.record === undefined) {
        const { answer, method, status } = call;
        if (method !== 'GET' || status !== 200 || !Array.isArray(answer)) return;
        for (const { id, state } of answer as { id?: string; state?: string }[])
          if (typeof state === 'string' && id !== undefined && shown.has(id)) shown.set(id, state);
        return;
      }
      const { id } = call.record;
      if (flying.get(id) === call) flying.delete(id);
      const { state, id: answered } = (call.answer ?? {}) as { state?: string; id?: string };
      if (call.status === 200 && answered === id && typeof state === 'string') shown.set(id, state);
      // Whatever was sent may have changed it: only the next look tells.
      // What the newest look does not show may be gone: a terminate is one way to ask.
      else if (call.method !== 'GET' || call.status === 404) shown.delete(id);
    },
  };
}
