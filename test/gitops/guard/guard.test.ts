import { describe } from 'vitest';
import { isBuilt } from '../../support/go-tool.ts';
import { guardCases } from './cases.ts';
import { GUARD } from './compare.ts';

const BUILT = isBuilt(GUARD);

if (!BUILT) {
  process.stderr.write(
    'the guard over samples is left out: "npm run test:gitops" builds it, once per machine\n',
  );
}

describe.skipIf(!BUILT)('the guard, by the comparison of Argo CD', () => {
  guardCases();
});
