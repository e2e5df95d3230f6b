import { printable } from '../../terminal.ts';
import type { Pod } from '../pods.ts';
import { checkOf, unknown, type Check, type Complaint } from './check.ts';

/** Restarts that are worth a word. */
const MANY_RESTARTS = 3;

/** Whether the operator’s pods run. */
export function checkPods(namespace: string, pods: Pod[] | { gap: string }): Check {
  const [id, title] = ['pods', `Pods in namespace ${namespace}`];
  if ('gap' in pods) return unknown(id, title, pods.gap);
  if (pods.length === 0)
    return unknown(id, title, 'There are none with the labels of the chart: the operator may run elsewhere.');
  const ready = pods.filter(
    ({ status }) => status?.containerStatuses?.every((each) => each.ready === true) ?? false,
  );
  return checkOf(
    id,
    title,
    pods.flatMap(complaintsAbout),
    `${ready.length} of ${pods.length} ${pods.length === 1 ? 'is' : 'are'} ready.`,
  );
}

function complaintsAbout({ metadata, status }: Pod): Complaint[] {
  const look = `kubectl logs -n ${metadata.namespace ?? ''} ${metadata.name} --previous`;
  return (status?.containerStatuses ?? []).flatMap((container): Complaint[] => {
    const { waiting } = container.state ?? {};
    const { restartCount = 0, lastState } = container;
    if (waiting !== undefined)
      return [
        {
          state: 'Wrong',
          text: printable(
            `${metadata.name} does not run: ${waiting.reason ?? 'waiting'}${waiting.message === undefined ? '' : `, ${waiting.message}`}.`,
          ),
          nextStep: look,
        },
      ];
    if (restartCount < MANY_RESTARTS) return [];
    const { reason, exitCode } = lastState?.terminated ?? {};
    const why = reason === undefined ? '' : `, last ${printable(reason)} (exit code ${exitCode ?? '?'})`;
    return [
      {
        state: 'Doubtful',
        text: `${metadata.name} has restarted ${restartCount} times${why}.`,
        nextStep: reason === 'OOMKilled' ? 'Raise resources.limits.memory of the chart.' : look,
      },
    ];
  });
}
