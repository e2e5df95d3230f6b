import { html, type Html } from './html.ts';
import { alert } from './pieces.ts';
import { passwordMatches } from '../security/tokens.ts';
import type { AccountDoc } from '../model.ts';
import type { Service } from '../service.ts';

/** What somebody sees who is not logged in. `next` is where they wanted to go. */
export const loginForm = (next: string, notice: string, email = ''): Html =>
  html`<div class="login">
    <h1>Log in</h1>
    ${alert(notice)}
    <form class="form" method="post" action="/page/login">
      <input type="hidden" name="next" value="${next}" />
      <label
        >Email <input name="email" type="email" required autocomplete="username" value="${email}" autofocus
      /></label>
      <label
        >Password <input name="password" type="password" required autocomplete="current-password"
      /></label>
      <button class="button primary">Log in</button>
    </form>
    <p class="muted">The command that started the service has printed email and password.</p>
  </div>`;

/** The account of an email and a password. */
export function accountOf({ store }: Service, form: URLSearchParams): AccountDoc | undefined {
  const account = store.accounts.by('email', (form.get('email') ?? '').toLowerCase())[0];
  if (account === undefined || !passwordMatches(account, form.get('password') ?? '')) return undefined;
  const authentication = store.organizations.get(account.organization)?.fields['authentication'];
  return (authentication as { password?: boolean } | undefined)?.password === false ? undefined : account;
}
