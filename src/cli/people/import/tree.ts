import { kindOf } from '../../../api/kinds.ts';
import { printable } from '../../terminal.ts';
import { configMapOf } from './contents.ts';
import type { Import } from './draw.ts';
import type { SecretToFill, Sketch } from './sketch.ts';
import { yamlOf } from './yaml.ts';

/** Files by their path below the folder, in the order of their names. */
export type Tree = ReadonlyMap<string, string>;

/** The list that people read. */
export const NOTES_FILE = 'IMPORT.md';

/** The path of a resource's manifest. */
export function pathOf({ kind, name }: Pick<Sketch, 'kind' | 'name'>): string {
  return `${kindOf(kind).plural}/${name}.yaml`;
}

/** The files of an import. The same import is the same text, whenever it is made. */
export function treeOf(
  imported: Import,
  { namespace, connection }: { namespace: string; connection: string },
): Tree {
  const files = new Map<string, string>();
  for (const { sketch, maps } of imported.resources) {
    const manifest = yamlOf(sketch.manifest(), sketch.remarks);
    files.set(pathOf(sketch), [manifest, ...maps.map((map) => yamlOf(configMapOf(map)))].join('---\n'));
  }
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    namespace,
    resources: [...files.keys()].toSorted(),
  };
  files.set('kustomization.yaml', yamlOf(kustomization));
  files.set(NOTES_FILE, notesText(imported, namespace, connection));
  return new Map([...files].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function bySecret(secrets: readonly SecretToFill[]): [string, readonly SecretToFill[]][] {
  const names = [...new Set(secrets.map(({ secret }) => secret))].toSorted();
  return names.map((name) => [name, secrets.filter(({ secret }) => secret === name)]);
}

function notesText(imported: Import, namespace: string, connection: string): string {
  const { resources, leftOut } = imported;
  const secrets = bySecret(resources.flatMap(({ sketch }) => sketch.secrets));
  const remarks = resources.filter(({ sketch }) => sketch.remarks.length > 0);
  const parts = [
    '# What was imported',
    `${resources.length} resources for Connection \`${connection}\` in namespace \`${namespace}\`. Each adopts its record ` +
      'by the annotation `boxwright.dev/adopt`.',
    '## Apply',
    `${secrets.length === 0 ? '' : '1. Make the Secrets below.\n2. '}Run \`kubectl apply -k .\` in this folder.`,
    'The operator then puts its marker, a tag, on the record of each Instance. It writes nothing else to the service and ' +
      'runs no operation. Deleting a resource leaves its record (`deletionPolicy: Orphan`), and what others change is ' +
      'listed in status and not reverted (`driftPolicy: Report`): remove these two lines where the manifest is to decide.',
    ...(secrets.length === 0
      ? []
      : [
          '## Secrets to fill in',
          'The service does not give their values away, or they do not belong into Git. An Instance waits for its Secret, ' +
            'and gets no marker before.',
          secrets
            .map(([name, keys]) => {
              const flags = keys.map(({ key }) => `--from-literal=${key}=…`).join(' ');
              return (
                `\`\`\`sh\nkubectl create secret generic -n ${namespace} ${name} ${flags}\n\`\`\`\n\n` +
                listed(keys.map(({ key, what }) => `${key}: ${what}`))
              );
            })
            .join('\n\n'),
        ]),
    ...(remarks.length === 0
      ? []
      : [
          '## What the manifests do not say',
          remarks
            .map(({ sketch }) => `### ${sketch.kind}/${sketch.name}\n\n${listed(sketch.remarks)}`)
            .join('\n\n'),
        ]),
    ...(leftOut.length === 0 ? [] : ['## What is no resource', listed(leftOut)]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `- ${marked(line)}`).join('\n');
}

/** Text of others in a page of Markdown: nothing of it is a mark. */
function marked(text: string): string {
  return printable(text).replaceAll(/[\\`*_{}[\]<>|#!&]/g, String.raw`\$&`);
}
