import manifest from '../../package.json' with { type: 'json' };

/** The oldest Node.js that this program runs on, from `engines` of package.json: `22.19`. */
export const OLDEST_NODE = oldestOf(manifest.engines.node);

/** What to tell somebody who runs the program on another Node.js; undefined when `version` will do. */
export function nodeComplaint(version: string, program: string): string | undefined {
  if (!isOlder(version, OLDEST_NODE)) return undefined;
  return (
    `boxwright needs Node.js ${OLDEST_NODE} or newer, and ${program} is v${version}: ` +
    'put a newer one first on PATH (https://nodejs.org/en/download)'
  );
}

/** @throws Error when the range is anything but `>=` and a version */
export function oldestOf(range: string): string {
  const found = /^>=(\d+(?:\.\d+){0,2})$/.exec(range)?.[1];
  if (found === undefined) throw new Error(`engines.node of package.json is ${range}: write >=<version>`);
  return found;
}

function isOlder(version: string, oldest: string): boolean {
  const [have, want] = [numbersOf(version), numbersOf(oldest)];
  const at = want.findIndex((number, index) => number !== (have[index] ?? 0));
  return at >= 0 && (have[at] ?? 0) < (want[at] ?? 0);
}

/** A pre-release counts as its release. */
function numbersOf(version: string): number[] {
  return version.split(/[.-]/, 3).map(Number);
}
