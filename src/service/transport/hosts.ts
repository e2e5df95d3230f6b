/**
 * Whether `host` (a URL's hostname) matches one of the patterns: an exact name or address, `*.example.com` for
 * any name below it (not itself), or `*`. Case and a trailing dot of the host do not count. No pattern matches nothing.
 */
export function hostAllowed(host: string, patterns: readonly string[]): boolean {
  const name = plain(host).replace(/\.$/, '');
  return patterns.some((given) => {
    const pattern = plain(given);
    if (pattern === '*') return true;
    if (!pattern.startsWith('*.')) return pattern !== '' && pattern === name;
    const suffix = pattern.slice(1);
    return suffix.length > 2 && !suffix.includes('*') && name.endsWith(suffix) && name.length > suffix.length;
  });
}

function plain(host: string): string {
  return host
    .trim()
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1');
}
