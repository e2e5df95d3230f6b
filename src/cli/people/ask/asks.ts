import { ANNOTATIONS } from '../../../api/names.ts';
import type { CommandEntry } from '../../command.ts';

/** Something that a person asks the operator for by an annotation. */
export interface Ask {
  command: string;
  /** For the list of commands. */
  summary: string;
  /** Completes “Instance/web: …”. */
  done: string;
  annotation: string;
  /**
   * The field by which a kind says that it takes the request: where status keeps the token that was answered, or the
   * switch of the spec that the annotation stands for.
   */
  field: string;
  /** `token`: each new value asks once. `true` and `null` switch on and off. */
  value: 'token' | 'true' | null;
  /** Waiting ends once the operator has answered, whether or not the resource is Ready then. */
  untilAnswered?: true;
  notes: string;
}

const ONCE =
  'The operator runs it once: now, or when the running operation has ended. With --wait the exit code says how it ended.';

/** Every such command. */
export const ASKS: readonly Ask[] = [
  {
    command: 'refresh',
    summary: 'make the operator compare a resource with the service now',
    done: 'is asked to be reconciled now',
    annotation: ANNOTATIONS.requestedAt,
    field: 'status.lastHandledRequest',
    value: 'token',
    untilAnswered: true,
    notes: `
The operator looks at settled resources every few minutes, and at once on request. With --wait the command ends when
the operator has looked.
  boxwright refresh instance/web --wait`,
  },
  {
    command: 'renew',
    summary: 'renew a lease: its time starts again',
    done: 'is asked to be renewed',
    annotation: ANNOTATIONS.renew,
    field: 'status.handledRenew',
    value: 'token',
    notes: `
The time of \`after\` starts again. A lease that ends at a fixed time stays as it is.
  boxwright renew evening --wait`,
  },
  {
    command: 'reinstall',
    summary: 'reinstall an instance: run its install and configure events',
    done: 'is asked to be reinstalled',
    annotation: ANNOTATIONS.requestReinstall,
    field: 'status.handledRequests.reinstall',
    value: 'token',
    notes: `
${ONCE}
A reinstall also applies changes of the box.
  boxwright reinstall web --wait`,
  },
  {
    command: 'reconfigure',
    summary: 'reconfigure an instance: run its configure events',
    done: 'is asked to be reconfigured',
    annotation: ANNOTATIONS.requestReconfigure,
    field: 'status.handledRequests.reconfigure',
    value: 'token',
    notes: `
${ONCE}
  boxwright reconfigure web --wait`,
  },
  {
    command: 'redeploy',
    summary: 'deploy an instance again, after a deploy that failed',
    done: 'is asked to be deployed again',
    annotation: ANNOTATIONS.requestRedeploy,
    field: 'status.handledRequests.redeploy',
    value: 'token',
    notes: `
${ONCE}
The service allows it after a failed deploy only; otherwise the request is refused, and status says so.
  boxwright redeploy web --wait`,
  },
  {
    command: 'pause',
    summary: 'pause a resource: the operator writes nothing to its record',
    done: 'is paused',
    annotation: ANNOTATIONS.paused,
    field: 'spec.paused',
    value: 'true',
    untilAnswered: true,
    notes: `
The annotation has the effect of spec.paused, and is not part of the manifest: tools that apply manifests leave it.
  boxwright pause instance/web
  boxwright resume instance/web --wait`,
  },
  {
    command: 'resume',
    summary: 'resume a paused resource',
    done: 'is resumed',
    annotation: ANNOTATIONS.paused,
    field: 'spec.paused',
    value: null,
    notes: `
Takes the annotation away that \`boxwright pause\` sets. Where the manifest has spec.paused, change it there.
  boxwright resume instance/web --wait`,
  },
];

/** The entries of all requests, for the list of commands. */
export const ASK_ENTRIES: readonly CommandEntry[] = ASKS.map((ask) => ({
  name: ask.command,
  summary: ask.summary,
  load: async () => (await import('./command.ts')).askCommand(ask),
}));
