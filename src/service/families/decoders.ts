import type { Decoder } from '../call/caller.ts';
import { BadAnswer, decodeJson, decodeText, isObject } from '../call/decode.ts';
import { ListReading } from '../call/list-reading.ts';
import type { ProviderRecord, WorkspaceRecord } from '../models/account.ts';
import type { BoxRecord } from '../models/box.ts';
import type { ActivityRecord, AnyRecord, BlobRecord } from '../models/common.ts';
import type { JsonLimits } from '../../base/json-size.ts';
import {
  activityFields,
  blobFields,
  boxFields,
  entryParts,
  instanceFields,
  operationFields,
  providerFields,
  serviceFields,
  workspaceFields,
} from '../models/fields.ts';
import type { InstanceRecord, InstanceServiceRecord, OperationRecord } from '../models/instance.ts';
import type { Fields } from '../models/parse.ts';
import { checkRecord, objectOf, word } from '../models/parse.ts';
import type { PortAnswer } from '../port.ts';

/** So many versions of a box are looked at: nobody makes as many, and a service may say anything. */
const VERSIONS_KEPT = 1_000;

/** Begins to read a list; of the entries that `whole` names everything is kept. */
export type ListDecoder<Entry> = (whole?: (id: string) => boolean) => ListReading<Entry>;

/** How the answers of all families are read: one place for depth, strictness and what an empty body means. */
export interface Decoders {
  /** Bytes of the largest list. */
  listBytes: number;
  /** With an id: the record must carry it. */
  box(id?: string): Decoder<BoxRecord>;
  boxes: ListDecoder<BoxRecord>;
  /** The first of them, which are the newest. */
  versions: ListDecoder<BoxRecord>;
  instance(id?: string): Decoder<InstanceRecord>;
  instances: ListDecoder<InstanceRecord>;
  /**
   * For operations, whose answers the interface document leaves open: the record if that is what came, else
   * nothing. HTML is no answer of the service.
   */
  ifInstance(id: string): Decoder<InstanceRecord | undefined>;
  runningService: Decoder<InstanceServiceRecord>;
  operations: ListDecoder<OperationRecord>;
  activity: ListDecoder<ActivityRecord>;
  workspace(id: string): Decoder<WorkspaceRecord>;
  workspaces: ListDecoder<WorkspaceRecord>;
  provider(id: string): Decoder<ProviderRecord>;
  providers: ListDecoder<ProviderRecord>;
  blob: Decoder<BlobRecord>;
  loginToken: Decoder<string>;
  text: Decoder<string>;
  /** Whatever came, but HTML. */
  nothing: Decoder<undefined>;
  /** An empty body is nothing; any other must decode. */
  optional<T>(decode: Decoder<T>): Decoder<T | undefined>;
}

/** @param limits - of one record, and of one entry of a list. */
export function createDecoders(listBytes: number, limits: JsonLimits): Decoders {
  const json = (answer: PortAnswer): unknown => decodeJson(answer, limits);
  const one =
    <T extends AnyRecord>(fields: Fields, id?: string): Decoder<T> =>
    (answer) =>
      checkRecord(json(answer), fields, 'strict', id) as T;
  const many =
    <T extends AnyRecord>(fields: Fields, parts?: readonly string[], most = Infinity): ListDecoder<T> =>
    (whole) => {
      let left = most;
      return new ListReading<T>(limits, (entry) => {
        // An entry without an id spoils the whole, since it could be any record.
        const record = checkRecord(entry, fields, 'entry');
        if (left-- <= 0) return undefined;
        return (parts === undefined || whole?.(record.id) === true ? record : partsOf(record, parts)) as T;
      });
    };
  return {
    listBytes,
    box: (id) => one<BoxRecord>(boxFields, id),
    boxes: many<BoxRecord>(boxFields, entryParts.boxes),
    versions: many<BoxRecord>(boxFields, entryParts.versions, VERSIONS_KEPT),
    instance: (id) => one<InstanceRecord>(instanceFields, id),
    instances: many<InstanceRecord>(instanceFields, entryParts.instances),
    ifInstance: (id) => (answer) => {
      refuseHtml(answer);
      try {
        return one<InstanceRecord>(instanceFields, id)(answer);
      } catch (error) {
        if (error instanceof BadAnswer) return undefined;
        throw error;
      }
    },
    runningService: one<InstanceServiceRecord & AnyRecord>(serviceFields),
    operations: many<OperationRecord>(operationFields, entryParts.operations),
    activity: () => {
      const check = objectOf(activityFields);
      // Lines are only shown: one that is no object is left out.
      return new ListReading<ActivityRecord>(limits, (line) =>
        check(line, 'entry') === undefined
          ? partsOf(line as ActivityRecord, Object.keys(activityFields))
          : undefined,
      );
    },
    workspace: (id) => one<WorkspaceRecord>(workspaceFields, id),
    workspaces: many<WorkspaceRecord>(workspaceFields, entryParts.workspaces),
    provider: (id) => one<ProviderRecord>(providerFields, id),
    providers: many<ProviderRecord>(providerFields, entryParts.providers),
    blob: (answer) => {
      const value = json(answer);
      if (!isObject(value) || word(value['url'], 'strict') !== undefined || value['url'] === '') {
        throw new BadAnswer('the blob record has no url');
      }
      const wrong = objectOf(blobFields)(value, 'strict');
      if (wrong !== undefined) throw new BadAnswer(`the blob record is not ${wrong}`);
      return value as BlobRecord;
    },
    loginToken: (answer) => readToken(answer, limits),
    text: (answer) => decodeText(answer.body),
    nothing: (answer) => {
      refuseHtml(answer);
      return undefined;
    },
    optional: (decode) => (answer) => (answer.body.byteLength === 0 ? undefined : decode(answer)),
  };
}

/** Only what is looked at: the rest of a long list would be kept for nothing. */
function partsOf<T extends Readonly<Record<string, unknown>>>(record: T, parts: readonly string[]): T {
  const kept: Record<string, unknown> = {};
  for (const name of parts) if (record[name] !== undefined) kept[name] = record[name];
  return kept as T;
}

/** A page with status 200 comes from something in between, a login page of a proxy for instance. */
function refuseHtml(answer: PortAnswer): void {
  const type = answer.headers['content-type'] ?? '';
  const head = new TextDecoder().decode(answer.body.subarray(0, 256)).trimStart();
  if (/\bhtml\b/i.test(type) || head.startsWith('<')) throw new BadAnswer('the body is HTML');
}

function readToken(answer: PortAnswer, limits: JsonLimits): string {
  const bare = decodeText(answer.body).trim();
  let token: unknown = bare;
  if (/^[[{"]/.test(bare)) {
    const value = decodeJson(answer, limits);
    token = isObject(value) ? value['token'] : value;
  } else {
    refuseHtml(answer);
  }
  if (typeof token !== 'string' || token.trim() === '') throw new BadAnswer('the answer holds no token');
  return token.trim();
}
