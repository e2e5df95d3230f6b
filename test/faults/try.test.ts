import { it } from 'vitest';
import { worldKinds } from '../support/world.ts';
import { enumerate } from './plans.ts';
import { runOnce } from './run.ts';
import { WORKLOADS } from './workloads.ts';
const kinds = worldKinds();
const only = process.env['W'];
for (const w of WORKLOADS) {
  if (only !== undefined && !w.name.startsWith(only)) continue;
  it(
    w.name,
    async () => {
      for (const listLag of (process.env['LAG'] ?? '0').split(',').map(Number)) {
        const t = performance.now();
        const c = process.cpuUsage();
        const run = await runOnce(w, { kinds, listLag });
        console.log(
          w.name,
          listLag,
          (performance.now() - t).toFixed(),
          'ms',
          (process.cpuUsage(c).user / 1000).toFixed(),
          'cpu',
          run.from,
          run.effects.length,
          run.failures.join('\n'),
        );
        if (process.env['V'])
          console.log(
            run.effects
              .map((e, i) => `${i}${i < run.from ? ' setup' : ''} ${e.status} ${e.label}`)
              .join('\n'),
            '\n',
            run.views.map((v) => v.step + '\n' + v.lines.join('\n')).join('\n\n'),
          );
        if (process.env['E']) {
          const t1 = performance.now();
          const k = Number(process.env['E']);
          const tally = await enumerate(w, {
            kinds,
            listLag,
            pick: (_, n) => n % k === 0,
            serviceErrors: process.env['S'] !== undefined,
          });
          console.log(
            tally.workload,
            tally.listLag,
            tally.effects,
            'effects',
            tally.plans,
            'plans',
            tally.failures.length,
            'failures',
            (performance.now() - t1).toFixed(),
            'ms',
          );
          for (const f of tally.failures)
            console.log(
              'FAIL',
              w.name,
              'lag',
              listLag,
              f.plan.at,
              f.plan.mishap,
              f.plan.label,
              '\n',
              f.said.slice(0, 3000),
            );
        }
      }
    },
    3600000,
  );
}
