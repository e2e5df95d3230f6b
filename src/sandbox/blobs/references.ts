import type { BoxDoc, Variable } from '../model.ts';
import { blobIdIn } from './url.ts';

/** Ids of the blobs that a box refers to. */
export function blobsOfBox(box: BoxDoc): string[] {
  const { events, readme, dockerfile } = box.fields as Record<
    string,
    Record<string, unknown> | null | undefined
  >;
  const files = [...Object.values(events ?? {}), readme, dockerfile] as (
    { url?: unknown } | null | undefined
  )[];
  return idsIn([box.icon, ...files.map((file) => file?.url), ...fileValues(box.variables)]);
}

/** Ids of the blobs that variables refer to. */
export function blobsOfVariables(variables: readonly Variable[]): string[] {
  return idsIn(fileValues(variables));
}

const fileValues = (variables: readonly Variable[]): unknown[] =>
  variables.filter(({ type }) => type === 'File').map(({ value }) => value);

function idsIn(urls: readonly unknown[]): string[] {
  const ids = urls.map((url) => (typeof url === 'string' ? blobIdIn(url) : undefined));
  return [...new Set(ids.filter((id) => id !== undefined))];
}
