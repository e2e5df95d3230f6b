import type { Caller, Service } from '../service.ts';
import type { Html } from './html.ts';

/** What a page of the page is made from: one request of somebody who is logged in. */
export interface Ask {
  service: Service;
  caller: Caller;
  /** Without the query. */
  path: string;
  /** Path parameters by name, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Fields of a form that was sent; empty for a GET. */
  form: URLSearchParams;
  /** Calls the service in the name of the caller, through everything that other clients go through. */
  call: (method: string, path: string, body?: object | Uint8Array) => Promise<Answer>;
}

/** What the service answered to a call of the page. */
export interface Answer {
  ok: boolean;
  status: number;
  /** What the service says about a refusal; "" for a success. */
  message: string;
  /** The JSON of a success, undefined where it is none. */
  body: unknown;
}

/** Which entry of the navigation a page belongs to. */
export type Section =
  'instances' | 'boxes' | 'policy-boxes' | 'providers' | 'workspaces' | 'organization' | 'blobs' | 'calls';

/** What is shown for a request. */
export type Shown =
  | {
      kind: 'page';
      title: string;
      section?: Section;
      content: Html;
      /** @default 200 */
      status?: number;
      /** Milliseconds between two looks for news; absent on a page that never changes. */
      every?: number;
    }
  | { kind: 'goto'; to: string }
  | { kind: 'text'; text: string }
  | { kind: 'file'; bytes: Uint8Array; type: string; headers: Readonly<Record<string, string>> };

/** One row of the page's own routes. */
export interface PageRoute {
  method: 'GET' | 'POST';
  /** With `{name}` for a path parameter. */
  path: string;
  show: (ask: Ask) => Shown | Promise<Shown>;
}
