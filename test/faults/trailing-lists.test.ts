import { testEveryEffect } from './tested.ts';

// Another third than with lists up to date: the two together leave a third of the plans to the long test.
testEveryEffect('A mishap at each effect, lists trail by 5 polls', {
  listLag: 5,
  pick: (_plan, n) => n % 3 === 1,
});
