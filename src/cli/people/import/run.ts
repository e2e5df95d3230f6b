import { hasRecord, KINDS, type KindName } from '../../../api/kinds.ts';
import { ANNOTATIONS } from '../../../api/names.ts';
import type { CliIo } from '../../command.ts';
import { EXIT, UsageError } from '../../exit-codes.ts';
import type { WatchedResource } from '../../watch/resource.ts';
import type { Cluster } from '../cluster.ts';
import { kindNamed } from '../kind-name.ts';
import { writeLines, writeObject } from '../output.ts';
import { readAll } from '../read.ts';
import { withService, type Service } from '../service.ts';
import { drawAll, type Import, type Present } from './draw.ts';
import { Files } from './files.ts';
import { checkFolder, writeFolder } from './folder.ts';
import { globOf } from './glob.ts';
import { KnownValues } from './known-values.ts';
import { readRecords, type Wanted } from './records.ts';
import { NOTES_FILE, pathOf, treeOf } from './tree.ts';

/** What is imported, and where to. */
export interface ImportOptions {
  folder: string;
  overwrite: boolean;
  workspace: string | undefined;
  kinds: ReadonlySet<KindName>;
  name: string;
  connection: string | undefined;
  endpoint: string | undefined;
  report: string;
}

/** Records that are no resources, looked for where everything is imported. */
const UNDECLARED = ['Provider', 'Workspace', 'Organization'];
/** Kinds that records become. */
const IMPORTED: readonly KindName[] = ['Box', 'PolicyBox', 'Instance'];

/** Words of `--kind` as kinds. @throws UsageError */
export function readKinds(words: readonly string[]): ReadonlySet<KindName> {
  return new Set(
    words.map((word) => {
      const kind = kindNamed(word)?.kind as KindName | undefined;
      if (kind !== undefined && IMPORTED.includes(kind)) return kind;
      throw new UsageError(
        `--kind ${word}: write one of ${IMPORTED.map((one) => one.toLowerCase()).join(', ')}`,
      );
    }),
  );
}

/** Imports what a workspace has. */
export async function importInto(options: ImportOptions, cluster: Cluster, io: CliIo): Promise<number> {
  const { folder, overwrite, connection: name, endpoint, report } = options;
  checkFolder(folder, overwrite);
  const { signal } = io.interrupt;
  const { resources, gaps } = await readAll(cluster, cluster.namespace, signal);
  const { imported, connection } = await withService(cluster, io, { name, endpoint }, async (service) => ({
    imported: await importFrom(service, options, { present: presentOf(resources), signal }),
    connection: service.connection.metadata.name,
  }));
  writeFolder(folder, treeOf(imported, { namespace: cluster.namespace, connection }));
  for (const gap of gaps) io.stderr.write(`boxwright: ${gap}\n`);
  if (report === 'text') writeLines(io, reportLines(imported, folder, cluster.namespace));
  else writeObject(io, report, reportObject(imported, folder));
  return EXIT.ok;
}

/** Reads the records that are wanted, and draws their manifests. */
export async function importFrom(
  service: Service,
  { workspace = service.workspace, kinds, name }: Pick<ImportOptions, 'workspace' | 'kinds' | 'name'>,
  { present, signal }: { present: Present; signal: AbortSignal },
): Promise<Import> {
  const isAll = IMPORTED.every((kind) => kinds.has(kind));
  const wanted: Wanted = {
    workspace,
    kinds: new Set([...kinds, ...(isAll ? UNDECLARED : [])]),
    isNamed: globOf(name),
  };
  const records = await readRecords(service, wanted, signal);
  const values = new KnownValues(service.secrets);
  return drawAll(records, {
    files: new Files(service, signal, values),
    values,
    schemaBase: service.schemaBase,
    connection: service.connection.metadata.name,
    owner: workspace === service.workspace ? undefined : workspace,
    present,
  });
}

/** What the namespace has already, with the record that each resource has or asks for. */
function presentOf(resources: readonly WatchedResource[]): Present {
  const kinds = KINDS.map(({ kind }) => kind as KindName).filter(hasRecord);
  return Object.fromEntries(
    kinds.map((kind) => [
      kind,
      new Map(
        resources
          .filter((resource) => resource.kind === kind)
          // Of two that name one record the later counts: the one whose status says so, which no author can write.
          .toSorted((a, b) => Number(hasId(a)) - Number(hasId(b)))
          .map(({ metadata, status }) => {
            const { id } = (status ?? {}) as { id?: string };
            const { annotations = {} } = metadata;
            return [
              metadata.name,
              id ?? annotations[ANNOTATIONS.externalId] ?? annotations[ANNOTATIONS.adopt],
            ];
          }),
      ),
    ]),
  );
}

function hasId({ status }: WatchedResource): boolean {
  return (status as { id?: string } | undefined)?.id !== undefined;
}

function reportLines({ resources, leftOut }: Import, folder: string, namespace: string): string[] {
  const count = (kind: string): number => resources.filter(({ sketch }) => sketch.kind === kind).length;
  const secrets = new Set(resources.flatMap(({ sketch }) => sketch.secrets.map(({ secret }) => secret)));
  const remarks = resources.filter(({ sketch }) => sketch.remarks.length > 0).length;
  const counts = IMPORTED.map((kind) => `${count(kind)} ${kind}`).join(', ');
  return [
    `${counts} in ${folder}`,
    ...(secrets.size === 0 ? [] : [`${secrets.size} Secrets are to be made before they are applied`]),
    ...(remarks === 0 ? [] : [`${remarks} manifests do not say everything that their record has`]),
    ...(leftOut.length === 0 ? [] : [`${leftOut.length} records are no resources`]),
    `Read ${folder}/${NOTES_FILE}, then run: kubectl apply -n ${namespace} -k ${folder}`,
  ];
}

function reportObject({ resources, leftOut }: Import, folder: string): object {
  return {
    apiVersion: 'cli.boxwright.dev/v1alpha1',
    kind: 'Import',
    folder,
    resources: resources.map(({ sketch }) => ({
      kind: sketch.kind,
      name: sketch.name,
      id: sketch.id,
      file: pathOf(sketch),
      remarks: sketch.remarks,
    })),
    secrets: resources.flatMap(({ sketch }) =>
      sketch.secrets.map((secret) => ({ kind: sketch.kind, name: sketch.name, ...secret })),
    ),
    leftOut,
  };
}
