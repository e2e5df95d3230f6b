import { testEveryEffect } from './tested.ts';

// A third of the plans, so that each effect has one mishap at least; every-mishap.long.test.ts runs all of them.
testEveryEffect('A mishap at each effect, lists up to date', { listLag: 0, pick: (_plan, n) => n % 3 === 0 });
