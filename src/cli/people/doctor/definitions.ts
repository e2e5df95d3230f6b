import { KINDS } from '../../../api/kinds.ts';
import type { KindDefinition } from '../../../api/schema/kind.ts';
import type { StructuralSchema } from '../../../api/schema/structural.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, KubeApiError, type KubeObject } from '../../../kube/index.ts';
import { version } from '../../version.ts';
import { refusalOf, type Cluster } from '../cluster.ts';
import { checkOf, unknown, type Check, type Complaint } from './check.ts';

interface Definition extends KubeObject {
  spec?: { versions?: { name?: string; schema?: { openAPIV3Schema?: Partial<StructuralSchema> } }[] };
}

const ID = 'kinds';
const TITLE = 'Definitions of the kinds';
/** Names of fields that a sentence lists. */
const NAMED = 5;

/** Whether the cluster's definitions have the fields that this program knows. */
export async function checkDefinitions({ kube }: Cluster, signal: AbortSignal): Promise<Check> {
  let found: (Definition | undefined)[];
  try {
    found = await Promise.all(
      KINDS.map(({ plural, group }) =>
        kube.get<Definition>(CUSTOM_RESOURCE_DEFINITIONS, { name: `${plural}.${group}` }, { signal }),
      ),
    );
  } catch (error) {
    if (!(error instanceof KubeApiError) || error.status !== 403) throw error;
    return unknown(ID, TITLE, refusalOf(error));
  }
  const complaints = KINDS.flatMap((kind, index) => complaintsAbout(kind, found[index]));
  return checkOf(ID, TITLE, complaints, `The cluster has the kinds of version ${version}.`);
}

/** Compares a definition of the cluster with that of this program. */
export function complaintsAbout(kind: KindDefinition, there: Definition | undefined): Complaint[] {
  if (there === undefined)
    return [
      {
        state: 'Wrong',
        text: `The cluster lacks the kind ${kind.kind}.`,
        nextStep: 'Install the chart boxwright-crds of the operator’s version.',
      },
    ];
  const served = there.spec?.versions?.find(({ name }) => name === kind.version);
  const [theirs, ours] = [served?.schema?.openAPIV3Schema, kind.structural()].map(
    (schema) => new Set([...pathsOf(schema, 'spec'), ...pathsOf(schema, 'status')]),
  );
  const lacking = [...(ours ?? [])].filter((path) => theirs?.has(path) !== true);
  const newer = [...(theirs ?? [])].filter((path) => ours?.has(path) !== true);
  return [
    ...(lacking.length === 0
      ? []
      : [
          {
            state: 'Wrong' as const,
            text: `The cluster's definition of ${kind.kind} lacks ${listed(lacking)}, which version ${version} has.`,
            nextStep:
              'If the operator has this version too, apply the CRDs of that version: Helm does not upgrade CRDs that another tool installed.',
          },
        ]),
    ...(newer.length === 0
      ? []
      : [
          {
            state: 'Doubtful' as const,
            text: `The cluster's definition of ${kind.kind} has ${listed(newer)}, which this program (version ${version}) does not know.`,
            nextStep: 'Use the program of the operator’s version.',
          },
        ]),
  ];
}

function pathsOf(schema: Partial<StructuralSchema> | undefined, part: 'spec' | 'status'): string[] {
  return fieldsOf(schema?.properties?.[part], part);
}

/** The fields right below; where one is missing, those below it are not named too. */
function fieldsOf(node: StructuralSchema | undefined, path: string): string[] {
  if (node?.items !== undefined) return fieldsOf(node.items, `${path}[]`);
  return Object.entries(node?.properties ?? {}).flatMap(([name, field]) => [
    `${path}.${name}`,
    ...fieldsOf(field, `${path}.${name}`),
  ]);
}

/** The first few, outermost only. */
function listed(paths: readonly string[]): string {
  const outermost = paths.filter(
    (path) => !paths.some((other) => path.startsWith(`${other}.`) || path.startsWith(`${other}[]`)),
  );
  const rest = outermost.length - NAMED;
  return `${outermost.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
