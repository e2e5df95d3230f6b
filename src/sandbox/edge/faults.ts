import type { Random } from '../../base/clock.ts';

export const FAULT_MOMENTS = ['before', 'after'] as const;
export type FaultMoment = (typeof FAULT_MOMENTS)[number];

export const SPOILT_BODIES = ['truncated', 'html', 'text', 'empty', 'wrong-types', 'extra-fields'] as const;
export type SpoiltBody = (typeof SPOILT_BODIES)[number];

/** What goes wrong, and for which calls. All parts that are given have to fit. */
export interface Fault {
  id: number;
  match: {
    method?: string;
    /** Path template (`/services/boxes/{box_id}`), `*` at its end standing for anything. */
    route?: string;
    /** Text that the path with query holds. */
    path?: string;
    /** User name (personal workspace). */
    caller?: string;
  };
  /** Milliseconds to wait before anything else; a pair is a range. */
  latency?: number | readonly [number, number];
  /** Answer with this code instead of doing anything. */
  status?: number;
  /** With `status`: seconds of a Retry-After header. */
  retryAfter?: number;
  message?: string;
  /** Break the connection before or after the effect. */
  lose?: FaultMoment;
  /** Never answer (until the caller hangs up): before or after the effect. */
  hang?: FaultMoment;
  /** Spoil the body of the answer, after the effect. */
  body?: SpoiltBody;
  /** Redirect to this location instead of doing anything. */
  redirect?: string;
  /** Calls that pass before the fault strikes. */
  skip?: number;
  /** How often it strikes; absent: always. */
  times?: number;
  /** Chance to strike, 0 to 1. @default 1 */
  probability?: number;
}

export interface FaultTarget {
  method: string;
  route: string;
  path: string;
  caller: string;
}

/** The faults of calls, applied by the edge. */
export class Faults {
  readonly #random: Random;
  #next = 1;
  #faults: Fault[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  add(fault: Omit<Fault, 'id'>): number {
    const id = this.#next++;
    this.#faults.push({ ...fault, id });
    return id;
  }

  list(): readonly Fault[] {
    return this.#faults;
  }

  /** Removes one, or all. */
  remove(id?: number): void {
    this.#faults = id === undefined ? [] : this.#faults.filter((fault) => fault.id !== id);
  }

  /** The faults that strike this call, counted. */
  take(target: FaultTarget): Fault[] {
    if (this.#faults.length === 0) return [];
    const struck = this.#faults
      .filter((fault) => fits(fault, target))
      .filter((fault) => this.#strikes(fault));
    this.#faults = this.#faults.filter((fault) => fault.times === undefined || fault.times > 0);
    return struck;
  }

  #strikes(fault: Fault): boolean {
    if (fault.skip !== undefined && fault.skip > 0) {
      fault.skip--;
      return false;
    }
    if (fault.probability !== undefined && this.#random() >= fault.probability) return false;
    if (fault.times !== undefined) fault.times--;
    return true;
  }
}

function fits({ match }: Fault, target: FaultTarget): boolean {
  return (
    (match.method === undefined || match.method === target.method) &&
    (match.caller === undefined || match.caller === target.caller) &&
    (match.path === undefined || target.path.includes(match.path)) &&
    (match.route === undefined ||
      (match.route.endsWith('*')
        ? target.route.startsWith(match.route.slice(0, -1))
        : match.route === target.route))
  );
}
