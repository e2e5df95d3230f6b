import { ANNOTATIONS, REQUEST_ANNOTATIONS, type RequestedOperation } from '../../src/api/names.ts';
import type { KindDefinition } from '../../src/api/schema/kind.ts';
import type { StructuralSchema } from '../../src/api/schema/structural.ts';

/** What an Argo CD customization has to know of a kind, read off its schema: a new kind brings its own. */
export interface Traits {
  /** There is spec.paused. */
  pausable: boolean;
  /** There is spec.powerState. */
  powered: boolean;
  /** There is spec.managementPolicy. */
  observable: boolean;
  /** The one-shot operations whose tokens status records. */
  requests: readonly RequestedOperation[];
  /** Lua of the lease's `after`, which a renewal counts anew. */
  after: string | undefined;
}

/** See {@link Traits}. */
export function traitsOf(definition: KindDefinition): Traits {
  const has = (...path: string[]): boolean => at(definition.structural(), path) !== undefined;
  return {
    pausable: has('spec', 'paused'),
    powered: has('spec', 'powerState'),
    observable: has('spec', 'managementPolicy'),
    requests: (Object.keys(REQUEST_ANNOTATIONS) as RequestedOperation[]).filter((operation) =>
      has('status', 'handledRequests', operation),
    ),
    after: has('spec', 'lease', 'after') ? 'lease' : has('status', 'handledRenew') ? 'spec' : undefined,
  };
}

/** An action: what it changes, and when it makes no sense. */
export interface Action {
  name: string;
  displayName: string;
  icon: string;
  /** Lua expression over the names that {@link discovery} defines. */
  disabled: string;
  /** Lua statements that change `obj`. */
  change: string;
}

/** Every action of a kind, in the order of a menu. */
export function actionsOf(traits: Traits): Action[] {
  const held = [
    'deleting',
    ...(traits.pausable ? ['paused'] : []),
    ...(traits.observable ? ['observed'] : []),
  ];
  const unless = (...more: string[]): string => [...held, ...more].join(' or ');
  const actions: Action[] = [
    {
      name: 'reconcile',
      displayName: 'Look now',
      icon: 'fa fa-fw fa-sync',
      disabled: traits.pausable ? 'paused' : 'false',
      change: stamp(ANNOTATIONS.requestedAt),
    },
  ];
  if (traits.pausable) {
    actions.push(
      {
        name: 'pause',
        displayName: 'Pause',
        icon: 'fa fa-fw fa-pause',
        disabled: 'deleting or paused',
        change: PAUSE,
      },
      {
        name: 'resume',
        displayName: 'Resume',
        icon: 'fa fa-fw fa-play',
        disabled: 'not paused',
        change: RESUME,
      },
    );
  }
  if (traits.powered) {
    const over = 'phase == "Terminating" or phase == "Terminated"';
    actions.push(
      {
        name: 'start',
        displayName: 'Start',
        icon: 'fa fa-fw fa-power-off',
        disabled: unless('spec.powerState == "Running"', over),
        change: 'obj.spec.powerState = "Running"\n',
      },
      {
        name: 'stop',
        displayName: 'Stop',
        icon: 'fa fa-fw fa-stop',
        disabled: unless('spec.powerState == "Stopped"', over),
        change: 'obj.spec.powerState = "Stopped"\n',
      },
    );
  }
  for (const operation of traits.requests) {
    actions.push({
      name: operation,
      displayName: `${operation.charAt(0).toUpperCase()}${operation.slice(1)}`,
      icon: 'fa fa-fw fa-redo',
      disabled: unless(`not (${TAKEN[operation]})`),
      change: stamp(REQUEST_ANNOTATIONS[operation]),
    });
  }
  if (traits.after !== undefined) {
    const after =
      traits.after === 'spec' ? 'spec.after == nil' : 'spec.lease == nil or spec.lease.after == nil';
    actions.push({
      name: 'renew',
      displayName: 'Renew the lease',
      icon: 'fa fa-fw fa-hourglass-start',
      disabled: unless(after),
      change: stamp(ANNOTATIONS.renew),
    });
  }
  return actions;
}

/** When the service takes an operation, or will when the running one has ended (service-behaviour.md 2.2). */
const TAKEN: Readonly<Record<RequestedOperation, string>> = {
  reinstall: 'up or failed("reinstall") or failed("reconfigure")',
  reconfigure: 'up or failed("reconfigure")',
  redeploy: 'failed("deploy")',
};

const ANNOTATED = 'if obj.metadata.annotations == nil then obj.metadata.annotations = {} end\n';

function stamp(annotation: string): string {
  return `-- The global os is not there under Argo CD's limits.
local os = require("os")
${ANNOTATED}obj.metadata.annotations["${annotation}"] = os.date("!%Y-%m-%dT%H:%M:%SZ")
`;
}

const PAUSE = 'obj.spec.paused = true\n';

const RESUME = `obj.spec.paused = false
if obj.metadata.annotations ~= nil and obj.metadata.annotations["${ANNOTATIONS.paused}"] ~= nil then
  obj.metadata.annotations["${ANNOTATIONS.paused}"] = nil
  -- Argo CD puts the old map back in the place of an empty one.
  if next(obj.metadata.annotations) == nil then obj.metadata.annotations = nil end
end
`;

function at(schema: StructuralSchema, path: readonly string[]): StructuralSchema | undefined {
  return path.reduce<StructuralSchema | undefined>((found, name) => found?.properties?.[name], schema);
}
