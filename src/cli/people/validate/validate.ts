import { loadFiles } from './files.ts';
import { findingAt, type Finding, type Valid } from './finding.ts';
import { referenceFindings, Tree } from './references.ts';
import { isOurs, judge } from './schema.ts';
import { variableFindings } from './variables.ts';

/** What came of it. */
export interface Validation {
  files: number;
  /** Resources of ours, right or wrong. */
  resources: number;
  findings: Finding[];
}

/** Kinds of the core that our kinds refer to. */
const CONTENT_KINDS: ReadonlySet<unknown> = new Set(['ConfigMap', 'Secret']);

/**
 * Judges every resource of ours in the files, without a cluster: by schema and rules, by what it refers to, and by the
 * variables that it gives values for.
 *
 * @param namespace - of objects that name none
 */
export function validate(paths: readonly string[], namespace: string): Validation {
  const { files, loaded, unreadable } = loadFiles(paths);
  const nothing = { kind: '', namespace: '', name: '', field: '' };
  const findings: Finding[] = unreadable.map((each) => ({ severity: 'error', ...nothing, ...each }));
  const tree = new Tree();
  const valid: Valid[] = [];
  let resources = 0;
  for (const from of loaded) {
    if (isOurs(from)) {
      resources += 1;
      const judged = judge(from, namespace);
      findings.push(...judged.findings);
      if (judged.valid === undefined) continue;
      const { kind, metadata } = judged.valid.resource;
      if (!tree.add(kind, metadata.namespace, metadata.name, judged.valid.resource)) {
        const about = { kind, namespace: metadata.namespace, name: metadata.name };
        findings.push(
          findingAt(from, about, 'metadata.name', `${kind} ${metadata.name} is in these files twice`),
        );
      }
      valid.push(judged.valid);
    } else if (CONTENT_KINDS.has(from.object['kind']) && from.object['apiVersion'] === 'v1') {
      const { name, namespace: own } = (from.object['metadata'] ?? {}) as {
        name?: string;
        namespace?: string;
      };
      tree.add(String(from.object['kind']), own ?? namespace, name ?? '', from.object);
    }
  }
  for (const one of valid) findings.push(...referenceFindings(one, tree), ...variableFindings(one, tree));
  return {
    files,
    resources,
    findings: findings.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line),
  };
}
