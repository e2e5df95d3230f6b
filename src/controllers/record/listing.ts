import type { AnyRecord, SharedLists } from '../../service/index.ts';
import type { ConnectionHandle } from '../connection-handle.ts';
import type { Pass } from './kind.ts';
import { failedRead, SHARED_LIST_AGE_MS, type Failed } from './looks/looked.ts';
import type { Memory } from './memory.ts';
import { plainIdProblem } from './plain-id.ts';
import type { ManagedResource } from './resource.ts';
import { verdict, type Verdict } from './status/verdict.ts';

/** What a listing needs of a pass. */
type ListingPass = Pick<
  Pass<ManagedResource, AnyRecord, Memory>,
  'resource' | 'memory' | 'handle' | 'owner' | 'priority' | 'signal'
>;

/** Where the records of a kind are listed, and how it is known that such a list hides nothing. */
export interface Listing {
  /** The shared list that holds the records. */
  readonly family: keyof SharedLists;
  /** Who owns, or shall own, what names no owner. */
  owner(handle: ConnectionHandle): string;
  /** The id under which the list of an owner's records is asked for. */
  at(owner: string): string;
  /** What a list that answers 404 says. */
  readonly missing: string;
  /** What is wrong with an owner whose list answers 404; undefined: nothing that is known. */
  problem(pass: ListingPass): Promise<Verdict | undefined>;
  /** Why a list that does not show a record says nothing; undefined: it shows all that the owner has. */
  blind(pass: ListingPass): Promise<Failed | undefined>;
  /** Whether what the owner has can be read with the credential of the pass: part of each proof of absence. */
  isReadable(pass: ListingPass): Promise<boolean>;
  /** The list in which a record to adopt has to be, and what to do where it is not. */
  elsewhere(owner: string): { list: string; advice: string };
}

/** Records that a workspace owns. */
export function ofWorkspace(family: Exclude<keyof SharedLists, 'workspaces' | 'workspace'>): Listing {
  const missing = 'The owner workspace answers 404: check spec.owner and what the credentials can see';
  return {
    family,
    owner: ({ workspace }) => workspace,
    at: (owner) => owner,
    missing,
    problem: unknownOwner,
    blind: async (pass) => {
      const { handle, owner, priority, signal, memory } = pass;
      const workspaces = await handle.client.shared.list('workspaces', '', {
        maxAgeMs: SHARED_LIST_AGE_MS,
        holding: (entry) => entry.id === owner,
        priority,
        signal,
      });
      if (workspaces.kind !== 'found') return failedRead(workspaces, pass, missing);
      if (workspaces.record.some((entry) => entry.id === owner)) return undefined;
      const wrong = await unknownOwner(pass);
      if (wrong !== undefined) return { kind: 'failed', verdict: wrong };
      const message = `Workspace "${owner}" is not in the list of workspaces yet`;
      const said = verdict('WaitingForReference', message);
      return { kind: 'failed', verdict: memory.attempts.missed('read', `listed ${owner}`, said) };
    },
    isReadable: (pass) => isReadable(pass, pass.owner),
    elsewhere: (owner) => ({
      list: `the list of workspace "${owner}"`,
      advice: 'set spec.owner to the id of the workspace that owns it',
    }),
  };
}

/** Whether a workspace can be read now: one answer for all who ask at the same time. */
async function isReadable({ handle, priority, signal }: ListingPass, id: string): Promise<boolean> {
  const notBefore = handle.client.stamp();
  const read = await handle.client.shared.list('workspace', id, { notBefore, priority, signal });
  return read.kind === 'found';
}

/** What is wrong with the workspace that is to own a record. */
function unknownOwner({
  resource,
  memory,
  handle,
  owner: id,
  priority,
  signal,
}: ListingPass): Promise<Verdict | undefined> {
  const named = { field: 'spec.owner, or the connection’s workspace', noun: 'workspace', id };
  return plainIdProblem({ resource, memory, handle }, named, () =>
    handle.client.workspaces.read(id, { priority, signal }),
  );
}

/** Records that the service lists for the account as a whole, whoever owns them: workspaces. */
export function ofAccount(family: 'workspaces'): Listing {
  return {
    family,
    owner: ({ user, workspace }) => user ?? workspace,
    at: () => '',
    missing: `The list of ${family} answers 404: check the endpoint and what the credentials can see`,
    problem: () => Promise.resolve(undefined),
    blind: () => Promise.resolve(undefined),
    // An account sees its own workspace always: without it, nothing that is missing is known to be gone.
    isReadable: (pass) => isReadable(pass, pass.handle.user ?? pass.handle.workspace),
    elsewhere: () => ({
      list: `the list of ${family} that the account sees`,
      advice: 'use a connection whose account is a member of it',
    }),
  };
}
