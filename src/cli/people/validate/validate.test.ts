import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paintFor } from '../../terminal.ts';
import { validationLines } from './report.ts';
import { validate } from './validate.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const INVALID = join(ROOT, 'test', 'api', 'invalid');
const EXAMPLES = join(ROOT, 'deploy', 'examples');

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'boxwright-validate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;

/** The examples with one text exchanged, and what is said of them. */
function changed(file: string, from: string | RegExp, to: string): string[] {
  count += 1;
  const copy = join(folder, `case-${count}`);
  mkdirSync(copy);
  for (const name of readdirSync(EXAMPLES)) {
    const text = readFileSync(join(EXAMPLES, name), 'utf8');
    const next = name === file ? text.replace(from, to) : text;
    if (name === file && next === text) throw new Error(`${file} has no ${String(from)}`);
    writeFileSync(join(copy, name), next);
  }
  return validate([copy], 'default').findings.map(
    ({ severity, field, message }) => `${severity} ${field}: ${message}`,
  );
}

function said(text: string, namespace = 'default'): string[] {
  count += 1;
  const file = join(folder, `case-${count}.yaml`);
  writeFileSync(file, text);
  return validate([file], namespace).findings.map(({ severity, message }) => `${severity}: ${message}`);
}

describe('the examples', () => {
  it('have nothing wrong', () => {
    const { resources, findings } = validate([EXAMPLES], 'default');
    expect(findings).toEqual([]);
    expect(resources).toBeGreaterThanOrEqual(readdirSync(EXAMPLES).length);
  });
});

describe('what the API server refuses', () => {
  it.each(readdirSync(INVALID))('is found in %s with the same words', (file) => {
    const text = readFileSync(join(INVALID, file), 'utf8');
    const { findings } = validate([join(INVALID, file)], 'default');
    const errors = findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
    expect(errors).not.toEqual([]);
    // Where the words are the API server’s own, and not of a rule of ours, it is the field that counts.
    const expected = [...text.matchAll(/^# expect: (.*)$/gm)].map(([, words = '']) => words);
    const rules = expected.filter(
      (words) =>
        !/^(spec|metadata|unknown field|Unsupported|Invalid|Duplicate|Required)|\bRequired value\b|Too long|Unsupported value|Duplicate value|in body/.test(
          words,
        ),
    );
    for (const words of rules) expect(errors.join('\n')).toContain(words);
  });
});

describe('a typo', () => {
  it.each([
    [
      'in a variable',
      'instance.yaml',
      /name: PORT\b/,
      'name: PORTT',
      /error spec\.variables\[\d\]\.name: box web has no variable PORTT; did you mean PORT\? It has /,
    ],
    [
      'in a field',
      'instance.yaml',
      'powerState:',
      'powerstate:',
      /error spec\.powerstate: unknown field "spec\.powerstate"; did you mean powerState\?/,
    ],
    [
      'in a kind',
      'instance.yaml',
      'kind: Instance\n',
      'kind: Instnce\n',
      /error kind: boxwright\.dev\/v1alpha1 has no kind Instnce: did you mean Instance\?/,
    ],
    [
      'in a version',
      'instance.yaml',
      'boxwright.dev/v1alpha1',
      'boxwright.dev/v1',
      /error apiVersion: there is no boxwright\.dev\/v1: write boxwright\.dev\/v1alpha1/,
    ],
    [
      'in a reference',
      'instance.yaml',
      /boxRef:\s*\{ name: web \}|boxRef:\n {4}name: web\n/,
      'boxRef: { name: wbe }\n',
      /error spec\.boxRef\.name: there is no Box wbe in these files; did you mean web\?/,
    ],
    [
      'in an annotation',
      'instance.yaml',
      'metadata:\n',
      'metadata:\n  annotations: { boxwright.dev/request-reinstal: "1" }\n',
      /error metadata\.annotations: the annotation boxwright\.dev\/request-reinstal means nothing; did you mean boxwright\.dev\/request-reinstall\?/,
    ],
    [
      'in a claim',
      'policy-box.yaml',
      /claims:.*/,
      'claims: [Linus]',
      /error spec\.policyBoxRef: box web requires Linux, and policy box small does not claim it; did you mean Linus\?/,
    ],
  ])('%s is found, with what was meant', (_, file, from, to, expected) => {
    expect(changed(file, from, to).join('\n')).toMatch(expected);
  });
});

const BOXES = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: inner}
spec:
  connectionRef: {name: main}
  variables: [{name: LEVEL, type: Options, options: [low, high]}, {name: KEY, type: Text, required: true}]
---
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: outer}
spec:
  connectionRef: {name: main}
  variables: [{name: runtime, type: Box, boxRef: {name: inner}}, {name: NEEDED, type: Text, required: true}]
---
`;

function instance(spec: string): string {
  return `${BOXES}
apiVersion: boxwright.dev/v1alpha1
kind: Instance
metadata: {name: web}
spec: {connectionRef: {name: main}, boxRef: {name: outer}, policyBoxId: x, ${spec}}
`;
}

function errorsOf(text: string): string[] {
  return said(text).filter((line) => line.startsWith('error'));
}

describe('values for variables', () => {
  const needed = 'variables: [{name: NEEDED, type: Text, value: x}]';

  it('that fit are not spoken of', () => {
    expect(
      errorsOf(instance(`${needed}, overrides: [{scope: runtime, name: LEVEL, type: Options, value: low}]`)),
    ).toEqual([]);
  });

  it.each([
    ['variables: []', 'box outer requires a value for NEEDED: add it to spec.variables'],
    [
      'variables: [{name: NEEDED, type: Number, value: "1"}]',
      'variable NEEDED of box outer has type Text, not Number',
    ],
    [
      `${needed}, overrides: [{scope: runtme, name: LEVEL, type: Options, value: low}]`,
      'box outer has no nested box runtme; did you mean runtime? It nests runtime',
    ],
    [
      `${needed}, overrides: [{scope: runtime, name: LEVLE, type: Options, value: low}]`,
      'box inner has no variable LEVLE; did you mean LEVEL? It has LEVEL, KEY',
    ],
    [
      `${needed}, overrides: [{scope: runtime, name: LEVEL, type: Options, value: middle}]`,
      'variable LEVEL of box inner takes one of low, high',
    ],
  ])('%s: %s', (spec, message) => {
    expect(errorsOf(instance(spec))).toEqual([`error: ${message}`]);
  });
});

function lease(namespace: string): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: InstanceLease
metadata: {name: evening, namespace: ${namespace}}
spec: {instanceRef: {name: web}, after: 8h}
---`;
}

function variables(list: string): string {
  return `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  variables: ${list}
`;
}

describe('YAML', () => {
  it.each(['on', 'No', 'y', '8080', '1_000'])('%s without quotes is no text, as for kubectl', (value) => {
    expect(errorsOf(variables(`[{name: A, type: Text, value: ${value}}]`))).toEqual([
      'error: spec.variables[0].value: must be of type string: put it in quotes',
    ]);
  });

  it.each(['2026-12-24', '2026-12-24T18:00:00Z', '12:30', '"on"'])('%s is text', (value) => {
    expect(errorsOf(variables(`[{name: A, type: Text, value: ${value}}]`))).toEqual([]);
  });

  it('may merge one map into another', () => {
    expect(errorsOf(variables('[&a {name: A, type: Text}, {<<: *a, name: B}]'))).toEqual([]);
  });

  it('with a map where a word belongs is no resource of ours', () => {
    expect(said('apiVersion: {toString: 1}\nkind: Box\n')).toEqual([]);
  });
});

describe('labels and annotations', () => {
  it.each([
    ['annotations: {boxwright.dev/paused: true}', 'metadata.annotations: the value of boxwright.dev/paused'],
    ['labels: {tier: 1}', 'metadata.labels: the value of tier'],
  ])('are text, as for kubectl: %s', (field, words) => {
    const text = variables('[]').replace('{name: web}', `{name: web, ${field}}`);
    expect(errorsOf(text)).toEqual([`error: ${words} must be of type string: put it in quotes`]);
  });

  it('may be empty', () => {
    const text = variables('[]').replace('{name: web}', '{name: web, labels: , annotations: {a: "1", b: }}');
    expect(errorsOf(text)).toEqual([]);
  });
});

describe('a secret that was written where a reference belongs', () => {
  it.each([
    ['Box', 'variables: [{name: A, type: Password, valueFrom: hunter2}]'],
    ['Box', 'variables: [{name: A, type: Password, valueFrom: {secretKeyRef: hunter2}}]'],
    ['Connection', 'credentialsRef: hunter2, endpoint: https://deploy.example.com'],
    ['Connection', 'headers: {token: hunter_2}, endpoint: https://deploy.example.com'],
  ])('of a %s is not repeated: %s', (kind, spec) => {
    const connection = kind === 'Box' ? 'connectionRef: {name: main}, ' : '';
    const all = errorsOf(
      `apiVersion: boxwright.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: web}\nspec: {${connection}${spec}}\n`,
    );
    expect(all.join()).toMatch(/must be/);
    expect(all.join()).not.toContain('hunter');
  });
});

describe('references', () => {
  it('to what is not in the files are warnings, to a key that is not there errors', () => {
    const box = `
apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec:
  connectionRef: {name: main}
  events: {install: {configMapKeyRef: {name: scripts, key: instal.sh}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: scripts}
data: {install.sh: echo}
`;
    expect(said(box)).toEqual([
      'warning: Connection main is not in these files: it has to be in the cluster',
      'error: ConfigMap scripts has no key instal.sh; did you mean install.sh?',
    ]);
  });

  it('lead within a namespace only', () => {
    const all = `${lease('other')}\n${instance('variables: [{name: NEEDED, type: Text, value: x}]')}`;
    expect(said(all)).toContain('warning: Instance web is not in these files: it has to be in the cluster');
  });
});

describe('files', () => {
  it('that are no YAML are named with their line, and the rest is read', () => {
    count += 1;
    const broken = join(folder, `case-${count}`);
    mkdirSync(broken);
    writeFileSync(join(broken, 'a.yaml'), 'a: [1\n---\nb: 2\n');
    writeFileSync(join(broken, 'b.yaml'), BOXES);
    const validation = validate([broken], 'default');
    expect(validation.findings[0]).toMatchObject({ severity: 'error', file: join(broken, 'a.yaml') });
    expect(validation.resources).toBe(2);
  });

  it('in a folder are read where they are files: a pipe is not waited for', () => {
    count += 1;
    const odd = join(folder, `case-${count}`);
    mkdirSync(odd);
    writeFileSync(join(odd, 'a.yaml'), BOXES);
    execFileSync('mkfifo', [join(odd, 'pipe.yaml')]);
    symlinkSync(odd, join(odd, 'folder.yaml'));
    symlinkSync('loop.yaml', join(odd, 'loop.yaml'));
    const { files, findings } = validate([odd], 'default');
    expect(files).toBe(2);
    expect(findings.filter(({ severity }) => severity === 'error')).toMatchObject([
      { file: join(odd, 'loop.yaml'), message: expect.stringContaining('ELOOP') as string },
    ]);
  });

  it('may be lists, and may name one resource once', () => {
    const list = `
apiVersion: v1
kind: List
items:
  - apiVersion: boxwright.dev/v1alpha1
    kind: Box
    metadata: {name: web}
    spec: {connectionRef: {name: main}}
  - apiVersion: boxwright.dev/v1alpha1
    kind: Box
    metadata: {name: web}
    spec: {connectionRef: {name: main}, colour: red}
`;
    expect(errorsOf(list)).toEqual([
      'error: Box web is in these files twice',
      'error: unknown field "spec.colour"',
    ]);
  });

  it('are told of as compilers tell, with the line of the field', () => {
    count += 1;
    const file = join(folder, `case-${count}.yaml`);
    writeFileSync(file, instance('variables: [{name: NEEDED, type: Number, value: "1"}]'));
    const lines = validationLines(validate([file], 'default'), paintFor({ write: () => undefined }, {}));
    expect(lines).toContain(
      `${file}:20: error: Instance/web: variable NEEDED of box outer has type Text, not Number`,
    );
    expect(lines.at(-1)).toBe('3 resources of Boxwright in 1 file: 1 error, 3 warnings');
  });
});

describe('secrets in manifests', () => {
  it('are in no finding, whatever is wrong with the manifest that has them', () => {
    const secret = 'CANARY';
    const texts = [
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  token: ${secret}: x\n`,
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {a: ${secret}, a: ${secret}}\n`,
      `apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: "${secret}!"}\nstringData: [${secret}]\n`,
      boxWith(`{name: P, type: Password, value: ${secret}}`),
      boxWith(`{name: P, type: Password, valueFrom: ${secret}}`),
      boxWith(`{name: P, type: Number, value: ${secret}}`),
      boxWith(`{name: P, type: Options, value: ${secret}, options: [a]}`),
    ];
    const findings = texts.map((text) => said(text));
    expect(findings.flat().length).toBeGreaterThan(5);
    expect(findings.flat().join('\n')).not.toContain(secret);
  });
});

function boxWith(variable: string): string {
  return `apiVersion: boxwright.dev/v1alpha1
kind: Box
metadata: {name: web}
spec: {connectionRef: {name: main}, type: Script, variables: [${variable}]}
`;
}
