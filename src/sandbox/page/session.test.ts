import { expect, test } from 'vitest';
import { cookieToken, isLoopback, isOwnForm, safeNext, setCookie, Tickets } from './session.ts';

test.each(['/page/instances/i-1', '/page/boxes?q=a&page=2', '/page/calls'])(
  'goes on to %s after a login',
  (next) => {
    expect(safeNext(next)).toBe(next);
  },
);

test.each([
  null,
  '',
  'https://evil.example/',
  '//evil.example',
  '/\\evil.example',
  '/page/../\t/evil.example',
  '/page/logout',
  '/services/boxes',
  'x',
])('goes to the instances instead of %j', (next) => {
  expect(safeNext(next)).toBe('/page/instances');
});

test('knows the cookie of its own port only', () => {
  const headers = {
    host: '127.0.0.1:8420',
    cookie: 'boxwright-page-8421=other; token=api; boxwright-page-8420=mine',
  };
  expect(cookieToken(headers)).toBe('mine');
  expect(cookieToken({ ...headers, host: '127.0.0.1:9000' })).toBeUndefined();
  expect(setCookie(headers, 'mine')).toBe('boxwright-page-8420=mine; Path=/page; HttpOnly; SameSite=Strict');
});

test('takes forms of its own only', () => {
  const host = '127.0.0.1:8420';
  expect(isOwnForm({ host, 'sec-fetch-site': 'same-origin' })).toBe(true);
  // Another port of this machine is another origin, though the same site.
  expect(isOwnForm({ host, 'sec-fetch-site': 'same-site' })).toBe(false);
  expect(isOwnForm({ host, 'sec-fetch-site': 'cross-site' })).toBe(false);
  expect(isOwnForm({ host, origin: 'http://127.0.0.1:3000' })).toBe(false);
  expect(isOwnForm({ host, origin: `http://${host}` })).toBe(true);
  // Behind something that speaks TLS for us.
  expect(isOwnForm({ host, origin: `https://${host}` })).toBe(true);
  expect(isOwnForm({ host, origin: 'null' })).toBe(false);
  expect(isOwnForm({ host })).toBe(true);
});

test.each([
  ['127.0.0.1:8420', true],
  ['localhost', true],
  ['[::1]:1', true],
  ['127.1.2.3', true],
  ['127.0.0.1.evil.example', false],
  ['localhost.evil.example:80', false],
  ['10.0.0.1:8420', false],
  ['', false],
])('tells whether the host %s is this machine', (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});

test('lets a ticket in once, and keeps the newest ones only', () => {
  const tickets = new Tickets();
  for (let n = 0; n < 20; n++) tickets.add(`ticket-${n}`, `account-${n}`);
  expect(tickets.take('ticket-0')).toBeUndefined();
  expect(tickets.take('ticket-19')).toBe('account-19');
  expect(tickets.take('ticket-19')).toBeUndefined();
  expect(tickets.take('never')).toBeUndefined();
});
