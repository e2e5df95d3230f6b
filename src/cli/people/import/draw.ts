import type { KindName } from '../../../api/kinds.ts';
import type { AnyRecord } from '../../../service/index.ts';
import { boxTypeOf, drawBox, type DrawContext } from './box.ts';
import { Contents, type ConfigMap } from './contents.ts';
import type { Files } from './files.ts';
import { drawInstance } from './instance.ts';
import type { KnownValues } from './known-values.ts';
import { namesFor, type TakenNames } from './names.ts';
import { drawPolicyBox } from './policy-box.ts';
import { titled, type Records } from './records.ts';
import { Known } from './references.ts';
import type { Sketch } from './sketch.ts';

/** What came of an import. */
export interface Import {
  resources: readonly { sketch: Sketch; maps: readonly ConfigMap[] }[];
  /** What of the service is no resource, a sentence each. */
  leftOut: readonly string[];
}

/** What the cluster has already, by kind. */
export type Present = Readonly<Partial<Record<KindName, TakenNames>>>;

/** What is the same for every manifest. */
export interface Frame {
  files: Files;
  /** What no file may have. */
  values: KnownValues;
  schemaBase: string;
  connection: string;
  /** Where it is another than that of the connection. */
  owner: string | undefined;
  present: Present;
}

type Drawn = { sketch: Sketch; maps: readonly ConfigMap[] };

const isPolicy = ({ schema = '' }: AnyRecord): boolean => schema.endsWith('/policy');
const isVersion = ({ version }: { version?: { box?: string } }): boolean => version?.box !== undefined;

/** Turns records into manifests: boxes first, since instances refer to them. */
export async function drawAll(records: Records, frame: Frame): Promise<Import> {
  const { files, values, schemaBase, connection, owner, present } = frame;
  values.note([...records.boxes, ...records.instances]);
  const leftOut = [...records.others];
  const usable = records.boxes.filter((record) => {
    const why = isVersion(record)
      ? 'it is a version of a box, which never changes'
      : isPolicy(record) || boxTypeOf(record) !== undefined
        ? undefined
        : `its type (${JSON.stringify(record.schema ?? '')}) is not known`;
    if (why !== undefined) leftOut.push(`Box ${titled(record)}: ${why}`);
    return why === undefined;
  });
  const families = {
    Box: usable.filter((record) => !isPolicy(record)),
    PolicyBox: usable.filter(isPolicy),
    Instance: records.instances,
  };
  const known = new Known();
  const names = new Map<string, string>();
  for (const kind of ['Box', 'PolicyBox', 'Instance'] as const) {
    const taken = present[kind] ?? new Map<string, string | undefined>();
    for (const [name, id] of taken) if (id !== undefined) known.add(kind, id, name);
    const named = families[kind].map(({ name, ...record }) =>
      name === undefined ? record : { ...record, name: values.mask(name) },
    );
    for (const [id, name] of namesFor(named, taken)) {
      known.add(kind, id, name);
      names.set(id, name);
    }
  }
  const common = {
    connectionRef: { name: connection },
    ...(owner === undefined ? {} : { owner }),
    driftPolicy: 'Report',
    deletionPolicy: 'Orphan',
  };
  const nameOf = (id: string): string => names.get(id) ?? '';
  const context: DrawContext = { known, files, values, schemaBase, common, nameOf };
  const drawn: Drawn[] = [];
  const draw = async <T extends AnyRecord>(
    kind: 'Box' | 'PolicyBox' | 'Instance',
    all: readonly T[],
    one: (record: T, contents: Contents) => Promise<Sketch | string>,
  ): Promise<void> => {
    for (const record of all.toSorted((a, b) => (nameOf(a.id) < nameOf(b.id) ? -1 : 1))) {
      const contents = new Contents(kind, nameOf(record.id));
      const sketch = await one(record, contents);
      const problem = typeof sketch === 'string' ? sketch : sketch.problem;
      if (problem !== undefined) leftOut.push(`${kind} ${titled(record)}: ${problem}`);
      else if (typeof sketch !== 'string') drawn.push({ sketch, maps: contents.maps });
    }
  };
  await draw('Box', families.Box, (record, contents) => drawBox(record, contents, context));
  await draw('PolicyBox', families.PolicyBox, (record, contents) => drawPolicyBox(record, contents, context));
  await draw('Instance', families.Instance, (record, contents) => drawInstance(record, contents, context));
  observeFiles(drawn.map(({ sketch }) => sketch));
  return { resources: drawn, leftOut: leftOut.map((line) => values.mask(line)).toSorted() };
}

/**
 * A box that is adopted gets its files anew, since nobody knows what the blobs of others hold: so one that has files is
 * observed until a person says otherwise, and with it every box that nests it, which would wait for its content.
 */
function observeFiles(sketches: readonly Sketch[]): void {
  const boxes = sketches.filter(({ kind }) => kind !== 'Instance');
  const observed = new Set(boxes.filter(({ hasFiles }) => hasFiles).map(({ id }) => id));
  for (let before = -1; before !== observed.size;) {
    before = observed.size;
    for (const { id, nests } of boxes) if (nests.some((nested) => observed.has(nested))) observed.add(id);
  }
  for (const sketch of boxes) {
    if (!observed.has(sketch.id)) continue;
    sketch.set('managementPolicy', 'Observe');
    sketch.remark(
      sketch.hasFiles
        ? 'managementPolicy is Observe: without it the operator uploads the files once, and puts them on the record'
        : 'managementPolicy is Observe, as that of a box that it nests',
    );
  }
}
