import { testEveryEffect } from './tested.ts';

for (const listLag of [0, 5]) {
  const trail = listLag === 0 ? 'lists up to date' : `lists trail by ${listLag} polls`;
  testEveryEffect(`Every mishap and every error at each effect, ${trail}`, { listLag, errorsToo: true });
}
