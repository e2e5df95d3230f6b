import { copyFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { inject } from 'vitest';
import type { Identity } from './comparison.ts';
import { IDENTITY, LOG } from './folder.ts';
import { grantsOf, type ChartRights } from './grants.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where test files leave what the end of the run compares. */
    rightsFolder: string;
  }
}

/** How much of the cluster an operator looks after: the namespaces that it is given, or all. */
export type Mode = 'scoped' | 'cluster-wide';

/**
 * Lets the end of the run compare the requests of an operator with its rights. Answers who it is.
 */
export function registerIdentity(rights: ChartRights, home: string, mode: Mode): Identity {
  const roles = rights.objects.filter(({ kind }) => kind !== 'ServiceAccount');
  const identity: Identity = {
    user: `system:serviceaccount:${home}:${rights.account}`,
    mode,
    grants: grantsOf(rights, home),
    roles: {
      namespaces: roles.flatMap(({ metadata: { namespace } }) => namespace ?? []),
      clusterWide: roles.flatMap(({ metadata: { name, namespace } }) =>
        namespace === undefined ? name : [],
      ),
    },
  };
  writeFileSync(
    join(inject('rightsFolder'), `${home}.${rights.account}${IDENTITY}`),
    JSON.stringify(identity),
  );
  return identity;
}

/** Keeps the audit log of a control plane that ends before the run does. */
export function keepAuditLog(path: string): void {
  copyFileSync(path, join(inject('rightsFolder'), `${basename(dirname(path))}${LOG}`));
}
