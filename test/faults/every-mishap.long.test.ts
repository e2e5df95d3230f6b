import { testEveryEffect } from './tested.ts';

for (const listLag of [0, 5]) {
  const trail = listLag === 0 ? 'lists up to date' : `lists trail by ${listLag} polls`;
  testEveryEffect(`Every mishap at each effect, ${trail}`, { listLag });
}
