import { beforeAll, describe } from 'vitest';
import { GO_BUILD_TIMEOUT, HAS_GO } from '../../support/go-program.ts';
import { goTool } from '../../support/go-tool.ts';
import { guardCases } from './cases.ts';
import { GUARD } from './compare.ts';

// Built here where it is not yet; the quick tests then have it.
describe.skipIf(!HAS_GO)('the guard, by the comparison of Argo CD', () => {
  beforeAll(() => goTool(GUARD), GO_BUILD_TIMEOUT);
  guardCases();
});
