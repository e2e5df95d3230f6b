import { expect, it } from 'vitest';
import { ownSchema } from './own-schema.ts';
import { stored, Trial } from './trial.ts';

it.each([200, 403, 404, 409, 500])('takes a write that is answered %d', (status) => {
  const trial = new Trial(ownSchema);
  trial.store('boxes', stored({}));
  trial.patch('boxes', { status: {} }, { status });
  expect(trial.said).toEqual([]);
});

it.each([400, 422])('objects to a write that is answered %d', (status) => {
  const trial = new Trial(ownSchema);
  trial.store('boxes', stored({}));
  trial.patch('boxes', { status: { id: '' } }, { status });
  expect(trial.said).toEqual([expect.stringContaining(`answers ${status} to a write of status`)]);
});
