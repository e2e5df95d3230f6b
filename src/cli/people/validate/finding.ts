import type { AnyResource } from '../../../api/kinds.ts';
import type { Loaded } from './files.ts';

/** Something that is wrong with a manifest, or may be. */
export interface Finding {
  /** `error`: it will be refused, or will not do what it says. `warning`: that depends on the cluster. */
  severity: 'error' | 'warning';
  file: string;
  line: number;
  kind: string;
  namespace: string;
  name: string;
  /** Such as `spec.variables[0].name`; empty for the whole. */
  field: string;
  message: string;
}

/** An object that fits its schema, defaults filled in. */
export interface Valid {
  resource: AnyResource;
  from: Loaded;
}

/** A finding about a field of an object. */
export function findingAt(
  from: Loaded,
  { kind, namespace, name }: { kind: string; namespace: string; name: string },
  field: string,
  message: string,
  severity: Finding['severity'] = 'error',
): Finding {
  return { severity, file: from.file, line: from.lineOf(field), kind, namespace, name, field, message };
}
