import { nodesByPath, type Node } from '../../boxes/tree.ts';
import { badRequest } from '../../http.ts';

export interface ScriptStep {
  do: 'script';
  machine: string;
  /** Dotted path; "" for the main box. */
  box: string;
  event: string;
  /** Download path of the script. */
  url: string;
  destination: string | null;
}

/** One step of an operation; the plan is stored with its job, so that a restart goes on where it was. */
export type Step =
  | { do: 'machines' }
  | ScriptStep
  /** Calls the organization's webhooks for each machine. */
  | { do: 'webhooks'; operation: string }
  | { do: 'phase'; event: string }
  | { do: 'finish' };

/** Events around a box's children: what runs before them, and after them. */
interface Order {
  before: readonly string[];
  after: readonly string[];
}

/** service-behaviour.md 2.3: a `pre_` event before the children, the main event after them … */
const up = (name: string): Order => ({ before: [`pre_${name}`], after: [name, `post_${name}`] });
/** … and for stop and dispose the main event before the children, `post_` after. */
const down = (name: string): Order => ({ before: [`pre_${name}`, name], after: [`post_${name}`] });

/** The rounds over the tree of boxes that an operation makes. */
const ROUNDS: Readonly<Record<string, readonly Order[]>> = {
  deploy: [up('install'), up('configure'), up('start')],
  reinstall: [up('install'), up('configure')],
  pull: [up('install'), up('configure')],
  reconfigure: [up('configure')],
  poweron: [up('configure'), up('start')],
  shutdown: [down('stop')],
  terminate: [down('dispose')],
  force_terminate: [],
};

/** Scripts of an instance over all events, boxes and machines. */
const MAX_SCRIPTS = 2_000;

/** @throws Refusal 400 when the events of a tree are more than an operation can carry */
export function checkScripts(tree: Node, machines: number): void {
  let events = 0;
  for (const { box } of nodesByPath(tree).values()) events += Object.keys(box.fields['events'] ?? {}).length;
  if (events * machines <= MAX_SCRIPTS) return;
  throw badRequest(
    `box: ${events} events on ${machines} machines are ${events * machines} scripts; at most ${MAX_SCRIPTS} are run`,
  );
}

/** The scripts that `operation` runs, in order, once per machine. */
export function scriptSteps(operation: string, tree: Node, machines: readonly string[]): Step[] {
  const steps: Step[] = [];
  for (const round of ROUNDS[operation] ?? []) {
    const visit = (node: Node): void => {
      for (const event of round.before) add(node, event);
      for (const child of node.children) visit(child);
      for (const event of round.after) add(node, event);
    };
    const add = (node: Node, event: string): void => {
      const events = (node.box.fields['events'] ?? {}) as Record<
        string,
        { url: string; destination_path?: string | null } | undefined
      >;
      const file = events[event];
      if (file === undefined) return;
      for (const machine of machines) {
        steps.push({
          do: 'script',
          machine,
          box: node.path,
          event,
          url: file.url,
          destination: file.destination_path ?? null,
        });
      }
    };
    visit(tree);
  }
  return steps;
}
