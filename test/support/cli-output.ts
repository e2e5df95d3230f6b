import { KINDS } from '../../src/api/kinds.ts';
import { diagnosisLines, diagnosisObject } from '../../src/cli/people/doctor/report.ts';
import {
  checkAnnotations,
  checkConnections,
  checkProgress,
  checkStalled,
} from '../../src/cli/people/doctor/resources.ts';
import { explanationOf, type Happened } from '../../src/cli/people/explain/facts.ts';
import { pageOf } from '../../src/cli/people/explain/page.ts';
import { keeperOf } from '../../src/cli/people/explain/who.ts';
import { forestOf } from '../../src/cli/people/status/forest.ts';
import { statusObject } from '../../src/cli/people/status/report.ts';
import { statusLines } from '../../src/cli/people/status/text.ts';
import { paintFor } from '../../src/cli/terminal.ts';
import type { WatchedResource } from '../../src/cli/watch/resource.ts';
import { typeOfKind, type World } from './world.ts';

const WIDTH = 10_000;

/** All that `explain`, `doctor` and `status` say of the resources of a world, to people and to programs. */
export function cliOutput(world: World): string {
  const paint = paintFor({ write: () => undefined }, {});
  const now = world.clock.now();
  const resources = KINDS.flatMap(({ kind }) =>
    world.kube
      .list(typeOfKind(kind as 'Box'))
      .map((object) => ({ ...(object as unknown as WatchedResource), kind })),
  );
  const said = (name: string): Happened[] =>
    world.events
      .filter(({ regarding }) => regarding.name === name)
      .map(({ type, reason, note }) => ({ at: '', type, reason, note, count: 1 }));
  const keeper = keeperOf(
    'shop',
    { operators: [], unproven: [] },
    { systemNamespace: 'x', wroteAt: undefined },
  );
  const explained = resources.map((resource) =>
    explanationOf(resource, keeper, said(resource.metadata.name)),
  );
  const checks = [
    checkConnections(resources),
    checkProgress(resources, now),
    checkStalled(resources),
    checkAnnotations(resources),
  ];
  const trees = forestOf(resources);
  return [
    ...explained.flatMap((one) => pageOf(one, { width: WIDTH, paint, now })),
    JSON.stringify(explained),
    ...diagnosisLines('', checks, { width: WIDTH, paint }),
    JSON.stringify(diagnosisObject(checks)),
    ...statusLines(trees, { width: WIDTH, paint, now, byNamespace: false }),
    JSON.stringify(statusObject(trees)),
  ].join('\n');
}
