import type { Row } from './row.ts';
import { accessRows } from './rows/access.ts';
import { boxRows } from './rows/boxes.ts';
import { foundRows } from './rows/found.ts';
import { instanceRows } from './rows/instances.ts';
import { organizationRows } from './rows/organizations.ts';
import { providerRows } from './rows/providers.ts';
import { workspaceRows } from './rows/workspaces.ts';
import type { Statement } from './statements.ts';

/** Every row, in the order of the document's sections. */
export const INVENTORY: readonly Row[] = [
  ...boxRows,
  ...instanceRows,
  ...accessRows,
  ...providerRows,
  ...workspaceRows,
  ...organizationRows,
  ...foundRows,
].toSorted((a, b) => order(a.section) - order(b.section));

function order(section: string): number {
  const [major = 0, minor = 0] = section.split('.').map(Number);
  return major * 100 + minor;
}

/** Statements that no row stands for, and marks of rows that no statement has. */
export function compare(statements: readonly Statement[]): { unmapped: Statement[]; unknown: string[] } {
  const covered = new Set(INVENTORY.flatMap((entry) => entry.covers));
  const marks = new Set(statements.map((entry) => entry.mark));
  return {
    unmapped: statements.filter((entry) => !covered.has(entry.mark)),
    unknown: [...covered].filter((mark) => !marks.has(mark)),
  };
}
