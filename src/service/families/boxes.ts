import type { Caller } from '../call/caller.ts';
import type { Decoders } from './decoders.ts';
import type { BoxBody, BoxRecord } from '../models/box.ts';
import type { CallOptions, Read, Write } from '../results.ts';

/** Boxes of all types (interface document section 4.1). */
export interface Boxes {
  /** Variables and events start empty: a PUT brings them (service-behaviour.md 3). */
  create(body: BoxBody, options?: CallOptions): Promise<Write<BoxRecord>>;
  read(id: string, options?: CallOptions): Promise<Read<BoxRecord>>;
  /** Sends the full object. */
  update(id: string, body: BoxBody | BoxRecord, options?: CallOptions): Promise<Write<BoxRecord>>;
  /** Makes a version of the body, which says its number; answers it, a record of its own (service-behaviour.md 3). */
  publish(id: string, body: BoxBody | BoxRecord, options?: CallOptions): Promise<Write<BoxRecord>>;
  remove(id: string, options?: CallOptions): Promise<Write<undefined>>;
  /** Id and version of each, newest first, a thousand at the most; empty when the box has no version. */
  versions(id: string, options?: CallOptions): Promise<Read<readonly BoxRecord[]>>;
}

export function createBoxes(caller: Caller, decoders: Decoders): Boxes {
  const template = '/services/boxes/{box_id}';
  return {
    create: (body, options) =>
      caller.write(
        { method: 'POST', template: '/services/boxes', body: { json: body } },
        decoders.box(),
        options,
      ),
    read: (id, options) =>
      caller.read({ method: 'GET', template, params: { box_id: id } }, decoders.box(id), options),
    update: (id, body, options) =>
      caller.write(
        { method: 'PUT', template, params: { box_id: id }, body: { json: body } },
        decoders.optional(decoders.box(id)),
        options,
      ),
    publish: (id, body, options) =>
      caller.write(
        { method: 'PUT', template, params: { box_id: id }, body: { json: body } },
        decoders.optional(decoders.box()),
        options,
      ),
    remove: (id, options) =>
      caller.write({ method: 'DELETE', template, params: { box_id: id } }, decoders.nothing, options),
    versions: (id, options) =>
      caller.readList(
        {
          method: 'GET',
          template: `${template}/versions`,
          params: { box_id: id },
          maxBytes: decoders.listBytes,
        },
        decoders.versions,
        options,
      ),
  };
}
