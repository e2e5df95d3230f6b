/** Runs the weeks and draws the picture of the guide: `npx node test/scenarios/week/draw.ts`. */
import { writeFileSync } from 'node:fs';
import { PICTURE, pictureOf } from './picture.ts';
import { runWeek, WEEKS, type Week } from './run.ts';

const weeks: Week[] = [];
for (const weekOf of WEEKS) weeks.push(await runWeek(weekOf));
writeFileSync(PICTURE, pictureOf(weeks));
console.log(`${weeks.flatMap(({ switches }) => switches).length} switches in ${PICTURE}`);
