import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { tableLines } from '../columns.ts';
import { demoTable } from '../dev/table.ts';
import { Board } from './board.ts';
import { cellsOf, COLUMNS, type Row } from './row.ts';

const ROW: Row = {
  kind: 'Instance',
  name: 'web-eu',
  ready: 'False',
  stalled: false,
  reason: 'Deploying',
  message: 'Waits for the end of deploy',
  phase: 'Deploying',
  address: '',
  age: '4s',
};
const READY: Row = {
  ...ROW,
  ready: 'True',
  reason: 'Settled',
  message: '',
  phase: 'Online',
  address: '10.0.0.7',
};

function board(stream: { isTTY?: boolean; columns?: number; rows?: number }, env = {}) {
  const clock = new VirtualClock();
  const told: string[] = [];
  const shown = { rows: [] as Row[] };
  const made = new Board({
    stream: { ...stream, write: (text) => told.push(text) },
    env,
    clock,
    startedAt: 0,
    shown: demoTable(() => shown.rows),
  });
  return { clock, told, shown, board: made };
}

describe('the table', () => {
  it('has columns as wide as they need to be', () => {
    expect(tableLines(COLUMNS, [READY, { ...ROW, name: 'a-long-name' }].map(cellsOf))).toEqual([
      'KIND       NAME          READY   REASON      PHASE       ADDRESS    AGE',
      'Instance   web-eu        True    Settled     Online      10.0.0.7   4s',
      'Instance   a-long-name   False   Deploying   Deploying              4s',
    ]);
  });

  it('is drawn over itself on a terminal, with what is missing under the row', async () => {
    const { clock, told, shown, board: live } = board({ isTTY: true, columns: 80 });
    shown.rows = [ROW];
    live.refresh();
    await clock.advance(0);
    expect(told.join('')).toContain('Waits for the end of deploy');
    expect(told.join('')).not.toContain('\u001b[3A');
    shown.rows = [READY];
    live.refresh();
    await clock.advance(100);
    expect(told.at(-1)?.startsWith('\u001b[3A')).toBe(true);
    expect(told.at(-1)).toContain('10.0.0.7');
    live.end();
    const drawn = told.length;
    await clock.advance(5_000);
    expect(told.length).toBe(drawn);
  });

  it('never draws a line that would wrap', async () => {
    const { clock, told, shown, board: live } = board({ isTTY: true, columns: 20 }, { NO_COLOR: '1' });
    shown.rows = [ROW];
    live.refresh();
    await clock.advance(0);
    const lines = stripVTControlCharacters(told.join('')).split('\n');
    expect(Math.max(...lines.map((line) => line.trim().length))).toBeLessThan(20);
    live.end();
  });

  it('keeps the address where a narrow terminal has no room for all', async () => {
    const { clock, told, shown, board: live } = board({ isTTY: true, columns: 60 }, { NO_COLOR: '1' });
    shown.rows = [READY, { ...ROW, name: 'a-long-name' }];
    live.refresh();
    await clock.advance(0);
    live.end();
    expect(told.join('')).toContain('10.0.0.7');
    expect(told.join('')).not.toContain('PHASE');
  });

  it('never draws more lines than the terminal has', async () => {
    const {
      clock,
      told,
      shown,
      board: live,
    } = board({ isTTY: true, columns: 80, rows: 5 }, { NO_COLOR: '1' });
    shown.rows = Array.from({ length: 20 }, (_, index) => ({ ...READY, name: `web-${index}` }));
    live.refresh();
    await clock.advance(0);
    expect(told.join('').match(/\n/g)).toHaveLength(4);
    expect(told.join('')).toContain('… 18 more lines');
    live.end();
    expect(told.at(-1)).toContain('web-19');
  });

  it('has no colours with NO_COLOR', async () => {
    const { clock, told, shown, board: live } = board({ isTTY: true, columns: 80 }, { NO_COLOR: '1' });
    shown.rows = [ROW, READY];
    live.refresh();
    await clock.advance(0);
    live.end();
    for (const style of [1, 2, 32, 33]) expect(told.join('')).not.toContain(`\u001b[${style}m`);
  });
});

describe('elsewhere than on a terminal', () => {
  it('there is one line for each change, with the time since the start', async () => {
    const { clock, told, shown, board: live } = board({});
    shown.rows = [ROW];
    live.refresh();
    live.refresh();
    await clock.advance(4_200);
    shown.rows = [{ ...READY, age: '9s' }];
    live.refresh();
    live.end();
    expect(told).toEqual([
      '   0.0s  Instance/web-eu          Ready=False Deploying Deploying: Waits for the end of deploy\n',
      '   4.2s  Instance/web-eu          Ready=True Settled Online 10.0.0.7\n',
    ]);
  });
});
