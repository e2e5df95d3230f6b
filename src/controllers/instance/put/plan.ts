import type { InstanceRecord, VariableRecord } from '../../../service/index.ts';
import {
  isMasked,
  mergeVariables,
  secretsAtRisk,
  variableDifferences,
  variableKey,
  type DesiredVariable,
} from '../../content/variables.ts';
import { mergeTags } from '../../merge.ts';

/** The PUT that would bring the record's tags and variables to what is declared, and why. */
export interface PutPlan {
  tags: string[];
  variables: VariableRecord[];
  differences: { field: string; want: string; have: string }[];
  needed: boolean;
  tagsDiffer: boolean;
  variablesDiffer: boolean;
  /** Keys that would be put there for the first time: noted in status before that. */
  newTags: string[];
  newVariables: string[];
  /** Tags of ours that are declared no more. */
  goneTags: string[];
  secretsAtRisk: string[];
}

/** Plans it: a three-way merge of the record, what we managed, and what is declared. */
export function planPut(
  record: InstanceRecord,
  declared: {
    marker: string;
    tags: readonly string[];
    variables: readonly DesiredVariable[];
    urlOf: (variable: DesiredVariable) => string;
  },
  managed: { tags: readonly string[]; variables: readonly string[] },
): PutPlan {
  const current = record.tags ?? [];
  const desiredTags = [declared.marker, ...declared.tags.filter((tag) => tag !== declared.marker)];
  const tags = mergeTags({ current, managed: managed.tags, desired: desiredTags });
  const desired = declared.variables.map((variable): VariableRecord =>
    variable.file === undefined ? variable.wire : { ...variable.wire, value: declared.urlOf(variable) },
  );
  const before = record.variables ?? [];
  const variables = mergeVariables({ current: before, managed: managed.variables, desired });
  const differing = variableDifferences(before, variables);
  const missing = tags.filter((tag) => !current.includes(tag));
  const gone = current.filter((tag) => !tags.includes(tag));
  const keys = new Set(before.map(({ name, scope }) => variableKey(name, scope)));
  return {
    tags,
    variables,
    differences: [
      ...missing.map((tag) => ({ field: `tags.${tag}`, want: 'present', have: 'absent' })),
      ...gone.map((tag) => ({ field: `tags.${tag}`, want: 'absent', have: 'present' })),
      ...differing.map(({ field, want, have }) => ({ field, want, have: isMasked(have) ? '****' : have })),
    ],
    needed: missing.length > 0 || gone.length > 0 || differing.length > 0,
    tagsDiffer: missing.length > 0 || gone.length > 0,
    variablesDiffer: differing.length > 0,
    newTags: missing.filter((tag) => tag !== declared.marker && !managed.tags.includes(tag)),
    newVariables: declared.variables
      .map(({ key }) => key)
      .filter((key) => !keys.has(key) && !managed.variables.includes(key)),
    goneTags: gone.filter((tag) => managed.tags.includes(tag)),
    secretsAtRisk: secretsAtRisk(
      variables,
      new Set(declared.variables.filter(({ secret }) => secret === true).map(({ key }) => key)),
    ),
  };
}
