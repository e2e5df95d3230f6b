import type { Caller } from '../call/caller.ts';
import type { Decoders } from './decoders.ts';
import type { ProviderRecord } from '../models/account.ts';
import type { CallOptions, Read } from '../results.ts';

/** Providers, read only so far (interface document section 4.5). */
export interface Providers {
  read(id: string, options?: CallOptions): Promise<Read<ProviderRecord>>;
}

export function createProviders(caller: Caller, decoders: Decoders): Providers {
  return {
    read: (id, options) =>
      caller.read(
        { method: 'GET', template: '/services/providers/{provider_id}', params: { provider_id: id } },
        decoders.provider(id),
        options,
      ),
  };
}
