import type { AccountDoc, TokenDoc } from '../model.ts';
import type { Store } from '../store/store.ts';
import { STATE_TABLES, StateError, type StateDocument } from './document.ts';

/**
 * Puts a state in the place of everything stored. Whoever had an account keeps password and tokens; the first
 * user of the sandbox gets those of the state's first user, so that what was printed at the start still works.
 * @throws StateError when the records cannot be stored; nothing has changed then
 */
export function importState(store: Store, state: StateDocument): void {
  const { database } = store;
  const before = store.accounts.all();
  const accounts = ((state.tables.accounts ?? []) as unknown as AccountDoc[]).map((account) =>
    withPassword(account, before, account === (state.tables.accounts as unknown[] | undefined)?.[0]),
  );
  const tokens = store.tokens.all().flatMap((token) => adopted(token, before, accounts));
  const rows = { ...state.tables, accounts, tokens };
  const reload = (): void => {
    for (const name of [...STATE_TABLES, 'tokens', 'settings'] as const) store[name].reload();
  };
  try {
    database.run(() => {
      database.writing(reload);
      for (const name of [...STATE_TABLES, 'tokens'] as const) {
        database.prepare(`DELETE FROM ${name}`).run();
        const insert = database.prepare(`INSERT INTO ${name} (id, doc) VALUES (?, ?)`);
        for (const row of rows[name] ?? []) insert.run(row.id, JSON.stringify(row));
      }
      database.prepare("DELETE FROM settings WHERE id LIKE 'gone:%'").run();
      const setting = database.prepare('INSERT INTO settings (id, doc) VALUES (?, ?)');
      for (const [name, value] of Object.entries(state.gone)) {
        const id = `gone:${name}`;
        setting.run(id, JSON.stringify({ id, value }));
      }
      database.prepare('DELETE FROM blob_content').run();
      const insert = database.prepare('INSERT INTO blob_content (id, content) VALUES (?, ?)');
      for (const [id, text] of Object.entries(state.content)) insert.run(id, Buffer.from(text, 'base64'));
      // Before the commit: what cannot be read back would be there after each restart.
      reload();
    });
  } catch (cause) {
    throw new StateError(`the state cannot be stored: ${(cause as Error).message}`);
  }
}

function withPassword(account: AccountDoc, before: readonly AccountDoc[], first: boolean): AccountDoc {
  if (account.hash) return account;
  const known = before.find(({ email }) => email === account.email) ?? (first ? before[0] : undefined);
  return { ...account, hash: known?.hash ?? '', salt: known?.salt ?? '' };
}

/** The token with the account of the state that stands for its owner. */
function adopted(
  token: TokenDoc,
  before: readonly AccountDoc[],
  accounts: readonly AccountDoc[],
): TokenDoc[] {
  const owner = before.find(({ id }) => id === token.account);
  const same = accounts.find(({ email }) => email === owner?.email);
  const account = same ?? (owner === before[0] ? accounts[0] : undefined);
  return account === undefined ? [] : [{ ...token, account: account.id }];
}
