import { cutText } from '../base/text.ts';

/** A column of a table for people. */
export interface Column {
  head: string;
  /** Where the terminal is too narrow, the column with the highest rank goes first; 0 stays always. */
  rank: number;
}

const GAP = '   ';

/**
 * Head and rows in columns as wide as they need to be. Where they do not fit into `width`, columns give way by rank,
 * and what is left is cut.
 */
export function tableLines(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number = Number.POSITIVE_INFINITY,
): string[] {
  const cells = [columns.map(({ head }) => head), ...rows];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  let kept = columns.map((_, index) => index).filter((index) => rows.length === 0 || hasContent(rows, index));
  const total = (): number =>
    kept.reduce((sum, index) => sum + (widths[index] ?? 0), GAP.length * (kept.length - 1));
  while (total() > width) {
    const last = kept
      .filter((index) => (columns[index]?.rank ?? 0) > 0)
      .toSorted((a, b) => (columns[b]?.rank ?? 0) - (columns[a]?.rank ?? 0))[0];
    if (last === undefined) break;
    kept = kept.filter((index) => index !== last);
  }
  return cells.map((line) => {
    const text = kept.map((index) => (line[index] ?? '').padEnd(widths[index] ?? 0)).join(GAP);
    return Number.isFinite(width) ? cutText(text.trimEnd(), width) : text.trimEnd();
  });
}

/** A column that nobody fills tells nothing. */
function hasContent(rows: readonly (readonly string[])[], index: number): boolean {
  return rows.some((row) => (row[index] ?? '') !== '');
}
