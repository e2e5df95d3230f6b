import { testEveryEffect } from './tested.ts';

// Of the plans that the two tests without a neighbour leave out, a third: he attacks at each effect of each run anyway.
testEveryEffect('A mishap at each effect, beside a hostile neighbour', {
  listLag: 0,
  neighbour: true,
  pick: (_plan, n) => n % 9 === 2,
});
