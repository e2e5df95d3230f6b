import { expect, it } from 'vitest';
import { secrecy } from './secrecy.ts';
import { stored, Trial } from './trial.ts';

const data = { password: Buffer.from('correct "horse"').toString('base64') };

it('objects to a secret in a write, however deep, and to nothing else', () => {
  const trial = new Trial(secrecy);
  trial.store('secrets', { ...stored({ name: 'login' }), data } as ReturnType<typeof stored>);
  trial.store('boxes', stored({}));
  trial.patch('boxes', { status: { drift: [{ have: '***' }] } });
  expect(trial.said).toEqual([]);
  trial.patch('boxes', { status: { drift: [{ have: 'it was correct "horse", before' }] } });
  expect(trial.said).toEqual(['boxes shop/web: a secret is written into it']);
});
