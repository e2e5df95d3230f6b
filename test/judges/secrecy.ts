import type { Court, Judge } from './judge.ts';

/** Shorter values stand in texts by chance. */
const SHORTEST = 8;

/** No value of a Secret stands in anything that is written to the cluster. */
export function secrecy(court: Court): Judge {
  const secrets = new Set<string>();
  return {
    changed({ resource, now }) {
      if (resource !== 'secrets' || now === undefined || now.metadata.name === 'boxwright-digest-key') return;
      const { data = {} } = now as unknown as { data?: Record<string, string> };
      for (const value of Object.values(data)) {
        const text = Buffer.from(value, 'base64').toString();
        if (text.length >= SHORTEST && !text.includes('\u{fffd}')) secrets.add(text);
      }
    },
    writing({ resource, key, request }) {
      const text = JSON.stringify(request.body ?? {});
      for (const secret of secrets) {
        if (text.includes(JSON.stringify(secret).slice(1, -1)))
          court.object(`${resource} ${key}: a secret is written into it`);
      }
    },
  };
}
