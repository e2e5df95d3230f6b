import type { BoxBody, BoxRecord } from '../models/box.ts';
import type { CallOptions, Read, Write } from '../results.ts';

/** Boxes of all types (interface document section 4.1). */
export interface Boxes {
  /** Variables and events start empty: a PUT brings them (service-behaviour.md 3). */
  create(body: BoxBody, options?: CallOptions): Promise<Write<BoxRecord>>;
  read(id: string, options?: CallOptions): Promise<Read<BoxRecord>>;
  /** Sends the full object. */
  update(id: string, body: BoxBody | BoxRecord, options?: CallOptions): Promise<Write<BoxRecord>>;
  remove(id: string, options?: CallOptions): Promise<Write<undefined>>;
  /** Newest first; empty when the box has no version. */
  versions(id: string, options?: CallOptions): Promise<Read<readonly BoxRecord[]>>;
}
