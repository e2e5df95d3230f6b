import type { Caller } from '../call/caller.ts';
import type { Decoders, ListDecoder } from './decoders.ts';
import type { ProviderRecord, WorkspaceRecord } from '../models/account.ts';
import type { BoxRecord } from '../models/box.ts';
import type { InstanceRecord } from '../models/instance.ts';
import type { CallOptions, Read } from '../results.ts';

export interface ListOptions extends CallOptions {
  /** Asks for these ids only; a service that does not know the query answers with everything. */
  ids?: readonly string[] | undefined;
  /** Of which entries everything is kept. @default of none */
  whole?: ((id: string) => boolean) | undefined;
}

/**
 * Workspaces and what they own (interface document section 4.6). Lists are whole arrays; an entry may lack
 * parts, and a part of a wrong type is left out of it, so act upon single reads only.
 */
export interface Workspaces {
  list(options?: ListOptions): Promise<Read<readonly WorkspaceRecord[]>>;
  read(id: string, options?: CallOptions): Promise<Read<WorkspaceRecord>>;
  boxes(id: string, options?: ListOptions): Promise<Read<readonly BoxRecord[]>>;
  instances(id: string, options?: ListOptions): Promise<Read<readonly InstanceRecord[]>>;
  providers(id: string, options?: ListOptions): Promise<Read<readonly ProviderRecord[]>>;
}

/** More ids than this make a request line that servers refuse: then the whole list is asked for. */
const mostIds = 200;

export function createWorkspaces(caller: Caller, decoders: Decoders): Workspaces {
  const template = '/services/workspaces/{workspace_id}';
  const list = <T>(
    path: string,
    id: string | undefined,
    decode: ListDecoder<T>,
    options: ListOptions = {},
  ): Promise<Read<readonly T[]>> =>
    caller.readList(
      {
        method: 'GET',
        template: path,
        ...(id === undefined ? {} : { params: { workspace_id: id } }),
        query: { ids: idsQuery(options.ids) },
        maxBytes: decoders.listBytes,
      },
      () => decode(options.whole),
      options,
    );
  return {
    list: (options) => list('/services/workspaces', undefined, decoders.workspaces, options),
    read: (id, options) =>
      caller.read({ method: 'GET', template, params: { workspace_id: id } }, decoders.workspace(id), options),
    boxes: (id, options) => list(`${template}/boxes`, id, decoders.boxes, options),
    instances: (id, options) => list(`${template}/instances`, id, decoders.instances, options),
    providers: (id, options) => list(`${template}/providers`, id, decoders.providers, options),
  };
}

function idsQuery(ids: readonly string[] | undefined): string | undefined {
  return ids === undefined || ids.length === 0 || ids.length > mostIds ? undefined : ids.join(',');
}
