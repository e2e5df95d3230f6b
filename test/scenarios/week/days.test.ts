import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectedSwitches } from './expected.ts';
import { PICTURE, stripOf } from './picture.ts';
import { DAYS_AROUND, inWords, runWeek, weekAround, WEEKS } from './run.ts';

// The whole weeks run in weeks.long.test.ts.
describe('the days around a change of the hour', () => {
  it.each(WEEKS)('in $zone, $sunday: every switch at its minute, none twice', async (weekOf) => {
    const days = await runWeek(weekOf, DAYS_AROUND);
    const expected = expectedSwitches(days);
    expect(inWords(days.switches)).toEqual(inWords(expected));
    expect(expected.length).toBeGreaterThan(3);
  });

  it('are drawn in the guide as they have to be', () => {
    const picture = readFileSync(PICTURE, 'utf8');
    // Where this fails, the picture is of another run: npx node test/scenarios/week/draw.ts
    for (const [index, weekOf] of WEEKS.entries()) {
      const week = weekAround(weekOf);
      expect(picture).toContain(stripOf({ ...week, switches: expectedSwitches(week) }, index));
    }
  });
});
