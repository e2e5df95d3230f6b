import type { KubeRequest } from '../../../src/kube/port.ts';
import type { FakeKind } from './kinds.ts';
import { Refusal } from './refusals.ts';

/** What a request is about. */
export interface Target {
  kind: FakeKind;
  namespace: string | undefined;
  name: string | undefined;
  subresource: string | undefined;
}

/** Reads the path of a request; undefined for what is no resource path. */
export function targetOf(path: string, kinds: readonly FakeKind[]): Target | undefined {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  let group: string;
  let version: string;
  let rest: string[];
  if (parts[0] === 'api' && parts.length >= 3) {
    [group, version, rest] = ['', parts[1] ?? '', parts.slice(2)];
  } else if (parts[0] === 'apis' && parts.length >= 4) {
    [group, version, rest] = [parts[1] ?? '', parts[2] ?? '', parts.slice(3)];
  } else {
    return undefined;
  }
  const find = (plural: string | undefined): FakeKind | undefined =>
    kinds.find(({ type }) => type.group === group && type.version === version && type.plural === plural);
  let namespace: string | undefined;
  // `/namespaces/a` is the object, `/namespaces/a/pods` is what is in it; `status` is a part of the object.
  if (rest[0] === 'namespaces' && rest.length >= 3 && rest[2] !== 'status') {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const kind = find(rest[0]);
  if (kind === undefined) {
    throw new Refusal(404, 'NotFound', 'the server could not find the requested resource', {});
  }
  return { kind, namespace, name: rest[1], subresource: rest[2] };
}

export function queryText(request: KubeRequest, name: string): string | undefined {
  const value = request.query?.[name];
  return value === undefined ? undefined : String(value);
}

export function queryFlag(request: KubeRequest, name: string): boolean {
  return queryText(request, name) === 'true';
}
