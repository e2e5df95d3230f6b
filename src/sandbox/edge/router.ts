import { pathParts } from './path-parts.ts';
import type { Route } from './route.ts';

/** What a path leads to. */
export type Match<R = Route> =
  | { kind: 'route'; route: R; params: Record<string, string> }
  | { kind: 'method'; template: string; allow: readonly string[] }
  | { kind: 'none' }
  | { kind: 'malformed' };

interface Pattern<R> {
  template: string;
  parts: readonly string[];
  routes: Map<string, R>;
}

/** Finds the route of a request. Trailing slashes do not matter; HEAD goes where GET goes. */
export class Router<R extends { method: string; path: string } = Route> {
  readonly #patterns = new Map<string, Pattern<R>>();
  readonly #byLength = new Map<number, Pattern<R>[]>();

  constructor(routes: readonly R[]) {
    for (const route of routes) {
      let pattern = this.#patterns.get(route.path);
      if (pattern === undefined) {
        pattern = { template: route.path, parts: pathParts(route.path), routes: new Map() };
        this.#patterns.set(route.path, pattern);
        const same = this.#byLength.get(pattern.parts.length) ?? [];
        this.#byLength.set(pattern.parts.length, [...same, pattern]);
      }
      pattern.routes.set(route.method, route);
    }
  }

  match(method: string, pathname: string): Match<R> {
    const parts = pathParts(pathname);
    for (const pattern of this.#byLength.get(parts.length) ?? []) {
      if (!fits(pattern.parts, parts)) continue;
      const route = pattern.routes.get(method === 'HEAD' ? 'GET' : method);
      if (route === undefined) {
        const allow = [...pattern.routes.keys()].flatMap((name) =>
          name === 'GET' ? ['GET', 'HEAD'] : [name],
        );
        return { kind: 'method', template: pattern.template, allow: [...allow, 'OPTIONS'] };
      }
      const params = paramsOf(pattern.parts, parts);
      return params === undefined ? { kind: 'malformed' } : { kind: 'route', route, params };
    }
    return { kind: 'none' };
  }
}

const isParam = (part: string): boolean => part.startsWith('{');

function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  return pattern.every((part, n) => (isParam(part) ? parts[n] !== '' : part === parts[n]));
}

function paramsOf(pattern: readonly string[], parts: readonly string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {};
  try {
    for (const [n, part] of pattern.entries()) {
      if (isParam(part)) params[part.slice(1, -1)] = decodeURIComponent(parts[n] ?? '');
    }
    return params;
  } catch {
    return undefined;
  }
}
