import { Type } from 'typebox';
import type { Route } from '../edge/route.ts';
import { Refusal } from '../http.ts';
import { grantToken, passwordMatches } from './tokens.ts';

/** Interface document section 4.4. */
export const securityRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/services/security/token',
    summary: 'Exchange email and password for a token',
    success: 200,
    errors: [400, 401],
    open: true,
    body: Type.Object({
      email: Type.String({ minLength: 1, maxLength: 2048 }),
      password: Type.String({ minLength: 1, maxLength: 2048 }),
    }),
    answer: Type.Object({ token: Type.String() }),
    handler: ({ service, body }) => {
      const { email, password } = body as { email: string; password: string };
      const account = service.store.accounts.by('email', email.toLowerCase())[0];
      if (account === undefined || !passwordMatches(account, password)) {
        throw new Refusal(401, 'Invalid Username/Password');
      }
      const organization = service.store.organizations.get(account.organization);
      const authentication = organization?.fields['authentication'] as { password?: boolean } | undefined;
      if (authentication?.password === false) {
        throw new Refusal(401, 'The organization does not allow login with email and password');
      }
      const token = service.ids.uuid();
      grantToken(service, account.id, token);
      return { kind: 'text', ...service.rules.loginAnswer(token) };
    },
  },
  {
    method: 'GET',
    path: '/services/security/providers',
    summary: 'Login URLs of the supported methods',
    success: 200,
    errors: [400],
    open: true,
    answer: Type.Object({
      organization: Type.String(),
      github_url: Type.Union([Type.String(), Type.Null()]),
      google_url: Type.Union([Type.String(), Type.Null()]),
      password_url: Type.Union([Type.String(), Type.Null()]),
      icon: Type.Union([Type.String(), Type.Null()]),
    }),
    handler: ({ service }) => {
      const organization = service.store.organizations.all()[0];
      const allowed = (organization?.fields['authentication'] ?? {}) as Record<string, unknown>;
      return {
        kind: 'json',
        value: {
          organization: organization?.id ?? 'public',
          github_url: allowed['github'] === false ? null : '/services/security/github',
          google_url: allowed['google'] === false ? null : '/services/security/google',
          password_url: allowed['password'] === false ? null : '/services/security/token',
          icon: organization?.fields['icon'] || null,
        },
      };
    },
  },
];
