import { createHash, timingSafeEqual } from 'node:crypto';
import { Refusal, type SandboxAnswer, type SandboxRequest } from '../http.ts';
import { validation } from '../edge/validate.ts';
import type { Admin } from './admin.ts';
import { bodyOf } from './bodies.ts';
import { CONTROLS } from './controls.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

const answer = (status: number, value: unknown): SandboxAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value ?? null)),
});

/** The admin port: JSON in and out, one bearer token. */
export function adminHandler(
  admin: Admin,
  token: string,
): (request: SandboxRequest) => Promise<SandboxAnswer> {
  const snapshots = new Map<string, ReturnType<Admin['snapshot']>>();
  const expected = digest(token);
  return (request) => {
    const given = /^Bearer +(\S+)$/i.exec(request.headers['authorization'] ?? '')?.[1] ?? '';
    if (!timingSafeEqual(digest(given), expected)) {
      return Promise.resolve(answer(401, { message: 'send the admin token as Authorization: Bearer' }));
    }
    try {
      const url = new URL(request.path, 'http://admin');
      const [name = '', id] = url.pathname.split('/').slice(1);
      const called = `${request.method} /${name}${id === undefined ? '' : '/{id}'}`;
      const control = CONTROLS[called];
      if (control === undefined) {
        return Promise.resolve(
          answer(404, { message: `no such control; there are ${Object.keys(CONTROLS).join(', ')}` }),
        );
      }
      const text = Buffer.from(request.body).toString('utf8');
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
      validation.check(bodyOf(called), body);
      const result = control.run({
        admin,
        snapshots,
        body,
        id: decodeURIComponent(id ?? ''),
        query: url.searchParams,
      });
      return Promise.resolve(answer(200, result));
    } catch (error) {
      const status = error instanceof Refusal ? error.status : 400;
      return Promise.resolve(
        answer(status, { message: error instanceof Error ? error.message : String(error) }),
      );
    }
  };
}
