import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectedSwitches } from './expected.ts';
import { PICTURE, stripOf } from './picture.ts';
import { inWords, runWeek, WEEKS } from './run.ts';

describe('a week with a change of the hour', () => {
  it.each(WEEKS)('in $zone around $sunday: every switch at its minute, none twice', async (weekOf) => {
    const week = await runWeek(weekOf);
    const expected = expectedSwitches(week);
    expect(inWords(week.switches)).toEqual(inWords(expected));
    expect(expected.length).toBeGreaterThan(10);
    // Where this fails, the picture is of another run: npx node test/scenarios/week/draw.ts
    expect(readFileSync(PICTURE, 'utf8')).toContain(stripOf(week, WEEKS.indexOf(weekOf)));
  });
});
