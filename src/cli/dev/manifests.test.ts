import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../exit-codes.ts';
import { defaultExamples, readManifests } from './manifests.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifests-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

const MAP = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`;

describe('readManifests', () => {
  it('reads every document of every file, but for connection.yaml', () => {
    put('b.yaml', `${MAP('one')}---\n# only a remark\n---\n${MAP('two')}`);
    put('a.yml', MAP('zero'));
    put('connection.yaml', MAP('elsewhere'));
    put('README.md', 'no manifest');
    expect(readManifests(folder).map(({ metadata }) => metadata.name)).toEqual(['zero', 'one', 'two']);
  });

  it('names file and line of what is no YAML', () => {
    put('a.yaml', 'kind: [');
    expect(() => readManifests(folder)).toThrow(/^a\.yaml: .* at line 1/s);
  });

  it.each(['just text', '[1, 2]', 'kind: Box'])('refuses %j, which is no resource', (text) => {
    put('a.yaml', text);
    expect(() => readManifests(folder)).toThrow('a.yaml: a document has no apiVersion');
  });

  it('refuses an empty folder', () => {
    expect(() => readManifests(folder)).toThrow(UsageError);
  });

  it('finds the examples of the project', () => {
    const kinds = readManifests(defaultExamples()).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['Box', 'PolicyBox', 'Instance', 'InstanceLease']));
    expect(kinds).not.toContain('Connection');
  });
});
