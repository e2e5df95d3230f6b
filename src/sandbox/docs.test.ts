import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CONTROLS } from './admin/controls.ts';
import { SANDBOX_FLAGS } from './command.ts';
import { BUNDLES, DEFAULT_DURATIONS, READINGS, TEST_PROVIDER_ID } from './index.ts';

const guide = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8');

function rowOf(name: string): string {
  const found = guide.split('\n').find((line) => line.startsWith(`| \`${name}\` `)) ?? '';
  return found.replaceAll('\\|', '|');
}

test.each(Object.entries(READINGS))('the guide names the reading %s with its values', (name, reading) => {
  const row = rowOf(name);
  expect(row).toContain(reading.about);
  for (const value of Object.keys(reading.values)) expect(row).toContain(`\`${value}\``);
});

test.each(Object.entries(CONTROLS))('the guide names the control %s', (name, control) => {
  expect(rowOf(name)).toContain(control.about);
});

test.each(Object.entries(BUNDLES))('the guide tells what is read as %s', (name, bundle) => {
  const row = rowOf(name);
  expect(row).toContain(bundle.about);
  for (const [reading, value] of Object.entries(bundle.readings)) {
    expect(row).toContain(`\`${reading}=${value}\``);
  }
});

test('the guide names every duration, and the Test Provider', () => {
  for (const [name, ms] of Object.entries(DEFAULT_DURATIONS)) expect(guide).toContain(`\`${name}\` ${ms}`);
  expect(guide).toContain(TEST_PROVIDER_ID);
});

test('the guide mentions no flag that does not exist', () => {
  const flags = new Set(SANDBOX_FLAGS.map((flag) => flag.flags.split(' ')[0]));
  const conformance = ['--base-url', '--email', '--password', '--read-only', '--inventory'];
  const known = [...flags, ...conformance];
  for (const [flag] of guide.matchAll(/--[a-z][a-z-]+/g)) expect(known).toContain(flag);
});
