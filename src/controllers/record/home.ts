import type { AnyRecord } from '../../service/index.ts';
import { isAccount, type ConnectionHandle } from '../connection-handle.ts';
import type { Place } from './identity/seal.ts';
import { placeOf, type Pass } from './kind.ts';
import type { Memory } from './memory.ts';
import type { ManagedResource } from './resource.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** Where a record is found, and by whom. */
export function homeOf(
  pass: Pick<Pass<ManagedResource, AnyRecord, Memory>, 'handle' | 'owner'>,
): Place & { account?: string } {
  const { account } = pass.handle;
  return { ...placeOf(pass), ...(account === undefined ? {} : { account }) };
}

/** Whether a connection is to where the record was last found, with the account that found it. */
export function isAtHome(
  home: ManagedResource['status']['home'],
  handle: Pick<ConnectionHandle, 'endpoint' | 'account' | 'user'>,
): boolean {
  if (home === undefined) return true;
  return home.endpoint === handle.endpoint && (home.account === undefined || isAccount(home.account, handle));
}

/** Why nothing is concluded from not seeing a record: it was last found elsewhere, or by another account. */
export function awayFrom(
  { home, handle }: Pick<Pass<ManagedResource, AnyRecord, Memory>, 'home' | 'handle'>,
  noun: string,
): Verdict | undefined {
  if (isAtHome(home, handle)) return undefined;
  const [was, is] = [words(home?.endpoint, home?.account), words(handle.endpoint, handle.account)];
  return verdict(
    'NeedsUser',
    `The ${noun} is not seen. It was last found at ${was}, and the connection is to ${is}: nothing is concluded from ` +
      `that. Point the connection back, or delete this resource with deletionPolicy Orphan to let go of the ${noun}`,
  );
}

function words(endpoint = 'an endpoint that is not known', account = 'an account that is not known'): string {
  return `${endpoint} with ${account}`;
}
