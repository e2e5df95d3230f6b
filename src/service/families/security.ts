import type { Caller } from '../call/caller.ts';
import { isTokenText } from '../call/session.ts';
import type { LoginResult } from '../call/session.ts';
import { ServiceError } from '../errors.ts';
import type { Decoders } from './decoders.ts';
import type { CallOptions } from '../results.ts';

/** `POST /services/security/token`; the answer is JSON with `token`, or the bare token (service-behaviour.md 1). */
export async function login(
  caller: Caller,
  decoders: Decoders,
  email: string,
  password: string,
  options: CallOptions,
): Promise<LoginResult> {
  const template = '/services/security/token';
  const attempt = await caller.call(
    { method: 'POST', template, body: { json: { email, password } }, anonymous: true },
    decoders.loginToken,
    options,
  );
  if (attempt.kind === 'ok') {
    if (isTokenText(attempt.value)) return { kind: 'token', value: attempt.value };
    const detail = 'the token holds characters that cannot travel in a header';
    return {
      kind: 'error',
      error: new ServiceError({ code: 'BadAnswer', method: 'POST', template, detail }),
    };
  }
  const { error } = attempt;
  // To a login, invalid data and a forbidden account mean the same as a wrong password: the Secret is wrong.
  if (error.status !== 400 && error.status !== 403) return { kind: 'error', error };
  return {
    kind: 'error',
    error: new ServiceError({
      code: 'CredentialsRejected',
      method: 'POST',
      template,
      status: error.status,
      serviceMessage: error.serviceMessage,
      detail: 'check the credentials Secret',
    }),
  };
}
