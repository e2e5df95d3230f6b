type Headers = Readonly<Record<string, string>>;

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether the request says that a page of another origin sent it. A browser always says so for what changes things. */
export function isForeign(headers: Headers): boolean {
  const { origin } = headers;
  if (origin === undefined) return false;
  // A proxy in front may have changed Host; a page cannot set either of the two headers.
  const own = headers['x-forwarded-host'] ?? headers['host'];
  return !URL.canParse(origin) || own === undefined || new URL(origin).host !== own.toLowerCase();
}

/**
 * Whether the login cookie may count. A cookie belongs to a host, not to a port: whatever else the host serves
 * can make a browser send it, so it counts only for the page's own requests and for a person who follows a link.
 */
export function cookieCounts(method: string, headers: Headers): boolean {
  if (isForeign(headers)) return false;
  if (headers['origin'] !== undefined) return true;
  const site = headers['sec-fetch-site'] ?? 'none';
  if (site === 'none' || site === 'same-origin') return true;
  return SAFE.has(method) && headers['sec-fetch-mode'] === 'navigate';
}

/** Whether a request that changes something comes from a page of another origin. */
export function isForgery(method: string, headers: Headers): boolean {
  return !SAFE.has(method) && isForeign(headers);
}
