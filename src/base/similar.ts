/** Words further apart than this, for their length, are not meant for each other. */
const SHARE = 0.4;
/** Longer words are no slips of anybody's pen, characters. */
const LONGEST = 64;
/** So many words are compared at the most: they may come from anybody, and each comparison takes some microseconds. */
const COMPARED = 1_000;

/** The word that is most like `word`, where one is near enough to be meant; case does not count. */
export function mostSimilar(word: string, words: Iterable<string>): string | undefined {
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  if (word.length > LONGEST) return undefined;
  let left = COMPARED;
  for (const candidate of words) {
    if (candidate.length > LONGEST) continue;
    const limit = Math.max(1, Math.floor(Math.max(word.length, candidate.length) * SHARE));
    // Each letter more is one to add.
    if (Math.abs(word.length - candidate.length) > limit) continue;
    if (left-- === 0) break;
    const distance = distanceOf(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Letters to add, to leave out, to change or to swap with the next (optimal string alignment). */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length] ?? 0;
}
