import { expect, it } from 'vitest';
import { ipv6Words } from './ipv6.ts';

it.each([
  ['::', [0, 0, 0, 0, 0, 0, 0, 0]],
  ['::1', [0, 0, 0, 0, 0, 0, 0, 1]],
  ['fd00::', [0xfd00, 0, 0, 0, 0, 0, 0, 0]],
  ['fd00:1:2:3:4:5:6:7', [0xfd00, 1, 2, 3, 4, 5, 6, 7]],
  ['fe80::1:2%eth0', [0xfe80, 0, 0, 0, 0, 0, 1, 2]],
  ['::ffff:10.0.200.1', [0, 0, 0, 0, 0, 0xffff, 0x0a00, 0xc801]],
])('ipv6Words spells %s out', (address, words) => {
  expect(ipv6Words(address)).toEqual(words);
});
