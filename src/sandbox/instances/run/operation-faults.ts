export const OPERATION_EFFECTS = ['stuck', 'fail', 'slow'] as const;
export type OperationEffect = (typeof OPERATION_EFFECTS)[number];

/** A fault of an operation, asked for on the admin port. */
export interface OperationFault {
  id: number;
  /** Operations it concerns: deploy, shutdown, …; absent: all. */
  operation?: string;
  /** Instance id or name; absent: all. */
  instance?: string;
  /** `stuck` never ends, `fail` ends unavailable at its end, `slow` takes `factor` times as long. */
  effect: OperationEffect;
  factor?: number;
  /** How many operations it still concerns; absent: all that come. */
  times?: number;
}

/** Faults of operations, chosen when an operation starts. */
export class OperationFaults {
  #next = 1;
  #faults: OperationFault[] = [];

  add(fault: Omit<OperationFault, 'id'>): number {
    const id = this.#next++;
    this.#faults.push({ ...fault, id });
    return id;
  }

  list(): readonly OperationFault[] {
    return this.#faults;
  }

  /** Removes one, or all. */
  remove(id?: number): void {
    this.#faults = id === undefined ? [] : this.#faults.filter((fault) => fault.id !== id);
  }

  /** The fault that hits this operation, counted. */
  take(operation: string, instance: { id: string; name: string }): OperationFault | undefined {
    const hit = this.#faults.find(
      (fault) =>
        (fault.operation === undefined || fault.operation === operation) &&
        (fault.instance === undefined || [instance.id, instance.name].includes(fault.instance)),
    );
    if (hit?.times !== undefined) {
      hit.times--;
      if (hit.times <= 0) this.remove(hit.id);
    }
    return hit;
  }
}
