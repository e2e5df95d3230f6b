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
import type { Difference } from '../../record/differences.ts';

/** What a PUT would bring: as declared, and for everything that it is not for, as the record has it. */
export interface PutPlan {
  tags: string[];
  variables: VariableRecord[];
  /** The record's own variables, with the real values of the secrets that are ours. */
  carried: VariableRecord[];
  differences: Difference[];
  tagsDiffer: boolean;
  variablesDiffer: boolean;
  /** Keys that would be put there for the first time: noted in status before that. */
  newTags: string[];
  newVariables: string[];
  /** Secrets that a PUT would lose, by what it is for: their values are known to the service alone. */
  wiped: { content: string[]; lease: string[] };
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
  const [have, want] = [new Set(current), new Set(tags)];
  const missing = tags.filter((tag) => !have.has(tag));
  const gone = current.filter((tag) => !want.has(tag));
  const keys = new Set(before.map(({ name, scope }) => variableKey(name, scope)));
  const secrets = new Map(
    declared.variables.flatMap(({ key, secret, wire }) =>
      secret === true ? [[key, wire.value] as const] : [],
    ),
  );
  const carried = before.map((variable) => {
    const value = secrets.get(variableKey(variable.name, variable.scope));
    return value !== undefined && isMasked(variable.value) ? { ...variable, value } : variable;
  });
  const ours = new Set(secrets.keys());
  return {
    tags,
    variables,
    carried,
    differences: [
      ...missing.map((tag) => ({ field: `tags.${tag}`, want: 'present', have: 'absent' })),
      ...gone.map((tag) => ({ field: `tags.${tag}`, want: 'absent', have: 'present' })),
      ...differing,
    ],
    tagsDiffer: missing.length > 0 || gone.length > 0,
    variablesDiffer: differing.length > 0,
    newTags: missing.filter((tag) => tag !== declared.marker && !managed.tags.includes(tag)),
    newVariables: declared.variables
      .map(({ key }) => key)
      .filter((key) => !keys.has(key) && !managed.variables.includes(key)),
    wiped: { content: secretsAtRisk(variables, ours), lease: secretsAtRisk(carried, ours) },
  };
}
