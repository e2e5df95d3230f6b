import type { World } from './world.ts';

/** One row of the inventory: statements of the interface document, and the test that decides on them. */
export interface Row {
  section: string;
  /** The statements in our own words. */
  says: string;
  /** Marks of the statements that the row stands for (see statements.ts). */
  covers: readonly string[];
  check?: (world: World) => Promise<void>;
  /** Why no test can decide, where none can. */
  untestable?: string;
  /** Only reads: also for real installations. */
  reads?: true;
}

/** A row of `section`; `covers` are marks, separated by blanks. */
export function row(
  section: string,
  covers: string,
  says: string,
  check: (world: World) => Promise<void>,
): Row {
  return { section, covers: covers.split(' '), says, check };
}

/** The same for a test that changes nothing. */
export function reading(
  section: string,
  covers: string,
  says: string,
  check: (world: World) => Promise<void>,
): Row {
  return { ...row(section, covers, says, check), reads: true };
}

export function untestable(section: string, covers: string, says: string, why: string): Row {
  return { section, covers: covers.split(' '), says, untestable: why };
}
