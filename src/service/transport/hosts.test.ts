import { expect, it } from 'vitest';
import { hostAllowed } from './hosts.ts';

it.each([
  ['deploy.example.com', ['deploy.example.com']],
  ['DEPLOY.example.com.', ['deploy.Example.com']],
  ['a.example.com', ['*.example.com']],
  ['a.b.example.com', ['other', '*.example.com']],
  ['10.0.0.1', ['10.0.0.1']],
  ['[::1]', ['::1']],
  ['anything', ['*']],
])('lets %s through %j', (host, patterns) => {
  expect(hostAllowed(host, patterns)).toBe(true);
});

it.each([
  ['example.com', []],
  ['example.com', ['']],
  ['example.com', ['*.example.com']],
  ['evilexample.com', ['*.example.com', 'example.com']],
  ['example.com.evil.net', ['example.com', '*.example.com']],
  ['a.example.com', ['*.*.com', '*example.com', '*.']],
  ['deploy.example.com', ['.example.com', 'eploy.example.com']],
])('keeps %s from %j', (host, patterns) => {
  expect(hostAllowed(host, patterns)).toBe(false);
});
