#!/usr/bin/env node
// oxlint-disable-next-line import/no-unassigned-import -- it has to run before the rest is loaded
import './node-check.ts';

try {
  // Not before the check above: an older Node.js cannot load it.
  await import('./start.ts');
} catch (error) {
  if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
  process.stderr.write(
    `boxwright: this copy of the program is not whole: take the whole dist folder that npm run build makes\n  ${(error as Error).message}\n`,
  );
  process.exitCode = 1;
}
