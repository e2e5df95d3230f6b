import { readFileSync } from 'node:fs';

/** One line of the audit log, as far as this project reads it (audit.k8s.io/v1, Event). */
export interface AuditEvent {
  auditID: string;
  /** Such as `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`. */
  verb: string;
  requestURI: string;
  user: { username: string; groups?: string[] };
  userAgent?: string;
  objectRef?: {
    apiGroup?: string;
    apiVersion?: string;
    resource?: string;
    subresource?: string;
    namespace?: string;
    name?: string;
  };
  responseStatus?: { code: number };
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  /** Such as `authorization.k8s.io/decision`: `allow` or `forbid`. */
  annotations?: Readonly<Record<string, string>>;
}

/** All requests that the API server has answered so far, oldest first. */
export function readAuditLog(path: string): AuditEvent[] {
  const text = readFileSync(path, 'utf8');
  // The last line may still be in the making.
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  return complete
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent & { stage?: string })
    .filter((event) => event.stage !== 'ResponseStarted');
}

const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);

/** Whether the request was one that changes something. */
export function isWrite(event: AuditEvent): boolean {
  return WRITES.has(event.verb);
}
