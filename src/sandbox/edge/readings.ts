import { MASK } from '../boxes/masks.ts';
import type { Override, Variable } from '../model.ts';

/** Whether an operation is accepted in a (state, event) pair. */
export type Accepts = (state: string, event: string) => boolean;

/** Operations that have an end. */
export const OPERATIONS = [
  'deploy',
  'poweron',
  'shutdown',
  'reinstall',
  'reconfigure',
  'pull',
  'terminate',
  'force_terminate',
] as const;

export type OperationName = (typeof OPERATIONS)[number] | 'delete' | 'put';

/**
 * What the handlers go by where documents leave a choice. Handlers use these values and never ask which
 * reading they came from.
 */
export interface Rules {
  accepts: Readonly<Record<Exclude<OperationName, 'terminate'>, Accepts>>;
  acceptsTerminate: Accepts;
  /** What DELETE without the `operation` query means. */
  bareDelete: 'delete' | 'terminate';
  /** Success code of operations, instead of 202. */
  operationStatus: number;
  /** Code for the record of an instance that was deleted. */
  goneStatus: number;
  loginAnswer: (token: string) => { type: string; text: string };
  /** The event that the second phase of an operation shows. */
  secondPhase: Readonly<Record<string, string>>;
  /** How an instance without a lease shows it. */
  noLease: { lease?: { operation: string; released: boolean } };
  /** PUT of an instance without `lease` takes the lease off. */
  leaseDropped: boolean;
  /** PUT with operation alwayson takes the lease off. */
  leaseAlwaysOn: boolean;
  /** What is kept of `expire`: a number of milliseconds to cut to. */
  leasePrecision: number;
  /** Fields, beyond the interface's list, that PUT of a box changes. */
  boxPutMore: readonly string[];
  /** Whether a PUT that would change another field is refused instead of ignored. */
  boxPutRefuses: boolean;
  /** Whether POST of a box takes variables, events, files and ports. */
  boxPostComplete: boolean;
  showVariable: (variable: Variable) => Variable;
  /** Whether the value of a request stands for one that is not shown. */
  isMasked: (variable: Override) => boolean;
  /** Characters of the name of an instance. */
  nameLimit: number;
  /** Parts that list entries of instances lack. */
  leanInstances: boolean;
  /** Unknown fields of a request are refused. */
  strictFields: boolean;
  /** `ids` works on the lists of workspaces and instances too. */
  idsEverywhere: boolean;
  /** Values of the release header that are served; undefined means all, and none at all. */
  releases: readonly string[] | undefined;
  workspaceCreated: number;
  /** Deploying a version by its own id is allowed. */
  deployVersions: boolean;
  /** After exit code 100 the reboot comes. */
  rebootComes: boolean;
}

const online: Accepts = (state, event) =>
  state === 'done' && ['deploy', 'poweron', 'reinstall', 'reconfigure', 'snapshot', 'pull'].includes(event);
const shutDown: Accepts = (state, event) =>
  state === 'done' && (event === 'shutdown' || event === 'shutdown_service');

/** service-behaviour.md 2.1. */
export const terminated: Accepts = (state, event) =>
  state === 'done' && (event === 'terminate' || event === 'terminate_service');

const failed =
  (...events: string[]): Accepts =>
  (state, event) =>
    state === 'unavailable' && events.includes(event);

const any =
  (...choices: Accepts[]): Accepts =>
  (state, event) =>
    choices.some((accepts) => accepts(state, event));

const always: Accepts = () => true;

/** service-behaviour.md 2.2. */
const accepts: Rules['accepts'] = {
  deploy: failed('deploy'),
  poweron: shutDown,
  shutdown: online,
  reinstall: any(online, failed('reinstall', 'reconfigure')),
  reconfigure: any(online, failed('reconfigure')),
  pull: online,
  force_terminate: (state, event) => !terminated(state, event),
  delete: terminated,
  put: (state) => state !== 'processing',
};

export interface Reading {
  /** One sentence for the documentation. */
  about: string;
  default: string;
  values: Readonly<Record<string, Partial<Rules>>>;
}

/** The one table of readings of open points (grades "likely" and "open" of service-behaviour.md). */
export const READINGS = {
  terminate: {
    about: 'When DELETE with operation=terminate is accepted: by the table of states, or always.',
    default: 'table',
    values: {
      table: { acceptsTerminate: any(online, failed('terminate', 'terminate_service')) },
      always: { acceptsTerminate: always },
    },
  },
  bareDelete: {
    about: 'What DELETE of an instance without the operation query means.',
    default: 'delete',
    values: { delete: { bareDelete: 'delete' }, terminate: { bareDelete: 'terminate' } },
  },
  operationStatus: {
    about: 'The success code of operations on instances.',
    default: '202',
    values: { '202': { operationStatus: 202 }, '200': { operationStatus: 200 } },
  },
  gone: {
    about: 'The answer for an instance that was deleted.',
    default: '404',
    values: { '404': { goneStatus: 404 }, '403': { goneStatus: 403 } },
  },
  login: {
    about: 'The answer of the token endpoint: an object with token, or the bare token as text.',
    default: 'object',
    values: {
      object: {
        loginAnswer: (token: string) => ({ type: 'application/json', text: JSON.stringify({ token }) }),
      },
      text: { loginAnswer: (token: string) => ({ type: 'text/plain', text: token }) },
    },
  },
  secondPhase: {
    about: 'Whether the second phase of shutdown and terminate shows an event of its own.',
    default: 'shown',
    values: {
      shown: { secondPhase: { shutdown: 'shutdown_service', terminate: 'terminate_service' } },
      hidden: { secondPhase: {} },
    },
  },
  noLease: {
    about: 'How an always-on instance shows its lease: operation alwayson, or no lease key.',
    default: 'alwayson',
    values: {
      alwayson: { noLease: { lease: { operation: 'alwayson', released: false } } },
      absent: { noLease: {} },
    },
  },
  leaseDropped: {
    about: 'PUT of an instance without the lease key: takes the lease off, or keeps it.',
    default: 'removes',
    values: { removes: { leaseDropped: true }, keeps: { leaseDropped: false } },
  },
  leaseAlwaysOn: {
    about: 'PUT of an instance with lease operation alwayson: takes the lease off, or is ignored.',
    default: 'removes',
    values: { removes: { leaseAlwaysOn: true }, ignored: { leaseAlwaysOn: false } },
  },
  leasePrecision: {
    about: 'Whether expire is kept as given, or cut to the minute.',
    default: 'given',
    values: { given: { leasePrecision: 1 }, minute: { leasePrecision: 60_000 } },
  },
  boxPut: {
    about: "Which fields PUT of a box changes: the interface's list (others kept), more of them, or refusal.",
    default: 'interface',
    values: {
      interface: { boxPutMore: [], boxPutRefuses: false },
      more: {
        boxPutMore: [
          'visibility',
          'automatic_updates',
          'profile',
          'provider_id',
          'claims',
          'lifespan',
          'readme',
          'dockerfile',
          'type',
        ],
        boxPutRefuses: false,
      },
      refuse: { boxPutMore: [], boxPutRefuses: true },
    },
  },
  boxPost: {
    about:
      'What POST of a box takes: no variables, events, files and ports (a Warning names them), or all of it.',
    default: 'empty',
    values: { empty: { boxPostComplete: false }, complete: { boxPostComplete: true } },
  },
  nameLength: {
    about: 'The longest name of an instance.',
    default: '30',
    values: { '30': { nameLimit: 30 }, '256': { nameLimit: 256 } },
  },
  passwords: {
    about: 'Values of Password variables in answers; a mask that comes back means the value that was there.',
    default: 'plain',
    values: {
      plain: { showVariable: (variable: Variable) => variable, isMasked: () => false },
      masked: {
        showVariable: (variable: Variable) =>
          variable.type === 'Password' && variable.value !== undefined && variable.value !== ''
            ? { ...variable, value: MASK }
            : variable,
        isMasked: ({ type, value }: Override) => value === MASK && (type ?? 'Password') === 'Password',
      },
    },
  },
  listEntries: {
    about: 'Entries of instance lists: whole, or without machines, boxes and policy box.',
    default: 'full',
    values: { full: { leanInstances: false }, lean: { leanInstances: true } },
  },
  unknownFields: {
    about: 'Unknown fields of requests (those that the service itself returns are always taken).',
    default: 'ignored',
    values: { ignored: { strictFields: false }, refused: { strictFields: true } },
  },
  ids: {
    about: 'Whether the ids query works on the lists of instances and workspaces too, or on boxes only.',
    default: 'everywhere',
    values: { everywhere: { idsEverywhere: true }, boxes: { idsEverywhere: false } },
  },
  release: {
    about: 'Values of the release header that are served: any and none, or 4.0 only.',
    default: 'any',
    values: { any: { releases: undefined }, strict: { releases: ['4.0'] } },
  },
  workspaceCreated: {
    about: 'The success code of POST /services/workspaces.',
    default: '200',
    values: { '200': { workspaceCreated: 200 }, '201': { workspaceCreated: 201 } },
  },
  deployVersions: {
    about: 'Whether a deploy request may name a version instead of the box.',
    default: 'accepted',
    values: { accepted: { deployVersions: true }, refused: { deployVersions: false } },
  },
  reboot: {
    about: 'After a script that ends with 100: the reboot comes, or never comes.',
    default: 'comes',
    values: { comes: { rebootComes: true }, never: { rebootComes: false } },
  },
} as const satisfies Readonly<Record<string, Reading>>;

export type ReadingName = keyof typeof READINGS;
/** A choice for some of the readings; the others keep their defaults. */
export type ReadingChoice = { [K in ReadingName]?: keyof (typeof READINGS)[K]['values'] };

/** The rules that a choice of readings gives. @throws Error that names the reading and its values */
export function compileRules(choice: ReadingChoice): Rules {
  const table: Readonly<Record<string, Reading>> = READINGS;
  const chosen: Readonly<Record<string, string | undefined>> = choice;
  for (const name of Object.keys(chosen)) {
    if (!Object.hasOwn(table, name)) {
      throw new Error(`no reading is called "${name}": there are ${Object.keys(table).join(', ')}`);
    }
  }
  const rules: Partial<Rules> = { accepts };
  for (const [name, reading] of Object.entries(table)) {
    const value = chosen[name] ?? reading.default;
    const part = Object.hasOwn(reading.values, value) ? reading.values[value] : undefined;
    if (part === undefined) {
      throw new Error(
        `reading ${name} cannot be "${value}": choose one of ${Object.keys(reading.values).join(', ')}`,
      );
    }
    Object.assign(rules, part);
  }
  return rules as Rules;
}
