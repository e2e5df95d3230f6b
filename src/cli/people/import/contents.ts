import type { KindName } from '../../../api/kinds.ts';
import { isOdd } from './yaml.ts';

/** Text up to so many bytes stands in the manifest itself. */
const INLINE_BYTES = 4_096;
/** A ConfigMap, and all else in its object, has 1 MiB. */
const MAP_BYTES = 900_000;

/** Where a manifest finds the content of a file. */
export type ContentSource = { inline: string } | { configMapKeyRef: { name: string; key: string } };

/** A ConfigMap to be written. */
export interface ConfigMap {
  name: string;
  data: Record<string, string>;
  binaryData: Record<string, string>;
}

/** The files of one resource: small text inline, the rest in ConfigMaps as far as these have room. */
export class Contents {
  readonly maps: ConfigMap[] = [];
  readonly #name: string;
  #left = 0;

  constructor(kind: KindName, name: string) {
    this.#name = `${kind.toLowerCase()}-${name}-files`;
  }

  /** Places a file; says why where there is no place for it. `key`: of letters, digits and `-._`. */
  place(
    key: string,
    bytes: Uint8Array,
    where: 'any' | 'configMap' = 'any',
  ): { source: ContentSource } | { problem: string } {
    const text = textOf(bytes);
    if (where === 'any' && text !== undefined && bytes.byteLength <= INLINE_BYTES && !isOdd(text))
      return { source: { inline: text } };
    const stored = text ?? Buffer.from(bytes).toString('base64');
    const size = Buffer.byteLength(stored) + key.length;
    if (size > MAP_BYTES) {
      return { problem: `its ${bytes.byteLength} bytes do not fit a ConfigMap, which has 1 MiB` };
    }
    if (size > this.#left) {
      const number = this.maps.length + 1;
      this.maps.push({
        name: number === 1 ? this.#name : `${this.#name}-${number}`,
        data: {},
        binaryData: {},
      });
      this.#left = MAP_BYTES;
    }
    this.#left -= size;
    const map = this.maps.at(-1);
    if (map === undefined) throw new Error('there is no ConfigMap');
    (text === undefined ? map.binaryData : map.data)[key] = stored;
    return { source: { configMapKeyRef: { name: map.name, key } } };
  }
}

/** Bytes as text; undefined where they are none. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The object of a ConfigMap. */
export function configMapOf({ name, data, binaryData }: ConfigMap): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    ...(Object.keys(data).length === 0 ? {} : { data }),
    ...(Object.keys(binaryData).length === 0 ? {} : { binaryData }),
  };
}
