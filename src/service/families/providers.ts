import type { ProviderRecord } from '../models/account.ts';
import type { CallOptions, Read } from '../results.ts';

/** Providers, read only so far (interface document section 4.5). */
export interface Providers {
  list(options?: CallOptions): Promise<Read<readonly ProviderRecord[]>>;
  read(id: string, options?: CallOptions): Promise<Read<ProviderRecord>>;
}
