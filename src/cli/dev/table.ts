import { formatDuration } from '../../base/duration.ts';
import { cutText } from '../../base/text.ts';
import { tableLines } from '../columns.ts';
import type { Paint } from '../terminal.ts';
import type { Shown } from '../watch/board.ts';
import { cellsOf, COLUMNS, type Row } from '../watch/row.ts';

/** The resources of a run: a table with what is missing under each row, or a line for each change. */
export function demoTable(rows: () => readonly Row[]): Shown {
  return {
    lines(width, paint) {
      const now = rows();
      return tableLines(COLUMNS, now.map(cellsOf), width).flatMap((line, index) => {
        const row = now[index - 1];
        if (row === undefined) return [paint.bold(line)];
        const coloured = colour(row, line, paint);
        return row.message === '' ? [coloured] : [coloured, paint.dim(cutText(`  ${row.message}`, width))];
      });
    },
    news: () =>
      rows().map(({ kind, name, ready, reason, phase, address, message }) => ({
        key: `${kind}/${name}`,
        text: [`Ready=${ready}`, reason, phase, address].filter((word) => word !== '').join(' '),
        detail: message,
      })),
  };
}

function colour({ ready }: Row, line: string, paint: Paint): string {
  if (ready === 'True') return paint.green(line);
  return ready === 'False' ? paint.yellow(line) : line;
}

/** `12.3 s`, or `2m5s` from a minute on. */
export function seconds(ms: number): string {
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : formatDuration(ms);
}
