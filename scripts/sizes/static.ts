import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { crdOf } from '../../src/api/crd.ts';
import { KINDS } from '../../src/api/kinds.ts';

/** One measured thing. */
export interface Row {
  what: string;
  value: number;
  unit: 'B' | 'ms' | 'MiB';
  /** What belongs to the value. */
  note?: string;
}

const ROOT = join(import.meta.dirname, '..', '..');

/** Each definition: as the API server takes it, and as the file that people apply. */
export function definitionSizes(): Row[] {
  return KINDS.map((definition) => {
    const crd = crdOf(definition);
    const file = join('crds', `${crd.metadata.name}.yaml`);
    return {
      what: `definition of ${definition.kind}`,
      value: Buffer.byteLength(JSON.stringify(crd)),
      unit: 'B',
      note: `as JSON; ${file}: ${statSync(join(ROOT, file)).size} B`,
    };
  });
}

/** The charts as `helm package` packs them, and the Secret that a release of the main one makes. */
export function chartSizes(tools: {
  helm: string;
  kubectl: string;
  kubeconfig: string;
  scratch: string;
}): Row[] {
  const { helm, kubectl, kubeconfig, scratch } = tools;
  const env = { ...process.env, KUBECONFIG: kubeconfig, HELM_CACHE_HOME: scratch, HELM_CONFIG_HOME: scratch };
  const run = (program: string, ...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  const packed = ['boxwright', 'boxwright-crds'].map((name): Row => {
    const folder = mkdtempSync(join(scratch, 'chart-'));
    run(helm, 'package', join('helm', name), '--destination', folder);
    const file = readdirSync(folder).find((each) => each.endsWith('.tgz')) ?? '';
    return { what: `chart ${name}, packed`, value: statSync(join(folder, file)).size, unit: 'B' };
  });
  run(helm, 'install', 'boxwright', 'helm/boxwright', '--namespace', 'sizes', '--create-namespace');
  const secret = run(
    kubectl,
    'get',
    'secret',
    'sh.helm.release.v1.boxwright.v1',
    '-n',
    'sizes',
    '-o',
    'json',
  );
  const { data } = JSON.parse(secret) as { data: { release: string } };
  const value = Buffer.from(data.release, 'base64').byteLength;
  const note = 'with the definitions; a Secret holds 1048576 B';
  return [...packed, { what: 'release Secret of chart boxwright', value, unit: 'B', note }];
}

/** The bundle in `folder`, and the files that the Dockerfile puts on its base image. */
export function bundleSizes(folder: string): Row[] {
  const scripts = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const program = Buffer.concat(scripts.map((name) => readFileSync(join(folder, name))));
  const beside = [join(folder, 'package.json'), join(ROOT, 'LICENSE')].map((path) => statSync(path).size);
  return [
    {
      what: 'bundle',
      value: program.byteLength,
      unit: 'B',
      note: `${scripts.length} files; ${gzipSync(program).byteLength} B with gzip, as a layer of an image`,
    },
    {
      what: 'image, files on top of its base',
      value: beside.reduce((sum, size) => sum + size, program.byteLength),
      unit: 'B',
      note: 'the bundle, package.json and LICENSE',
    },
  ];
}
