import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { PLANTED } from './planted.ts';

it.each(PLANTED)('a mistake can still be planted: $name', ({ file, find }) => {
  const text = readFileSync(join(import.meta.dirname, '../../src', file), 'utf8');
  expect(text.split(find)).toHaveLength(2);
});
