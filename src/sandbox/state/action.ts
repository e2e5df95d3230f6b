import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { writePrivateFile } from '../private-file.ts';
import { Store } from '../store/store.ts';
import { ServiceTime } from '../time.ts';
import { systemClock } from '../../base/clock.ts';
import { parseState } from './document.ts';
import { exportState } from './export.ts';
import { importState } from './import.ts';
import { resetState } from './reset.ts';

export const STATE_ACTIONS = ['export', 'import', 'reset'] as const;
export type StateAction = (typeof STATE_ACTIONS)[number];

/** What `boxwright sandbox export|import|reset` takes. */
export interface StateOptions {
  /** Of a sandbox that does not run. */
  data: string;
  /** Of a sandbox that runs: written by it, with its admin port in it. */
  credentialsFile?: string;
  /** `-` is standard output or input. */
  file: string;
  secrets?: boolean;
}

/** Somewhere that has a state. */
interface Place {
  export: (secrets: boolean) => Promise<string>;
  import: (text: string) => Promise<void>;
  reset: () => Promise<void>;
}

/** Carries the action out; returns what to tell a person. @throws Error that says which option is wrong */
export async function runStateAction(
  action: StateAction,
  options: StateOptions,
  io: { write: (text: string) => void; input: NodeJS.ReadableStream },
): Promise<string> {
  const place = placeOf(options);
  const { file } = options;
  switch (action) {
    case 'export': {
      const text = await place.export(options.secrets === true);
      if (file === '-') io.write(text);
      else writePrivateFile(file, text);
      return file === '-' ? '' : `The state is in ${file}.`;
    }
    case 'import':
      await place.import(file === '-' ? await readAll(io.input) : readFileSync(file, 'utf8'));
      return 'The state was imported.';
    case 'reset':
      await place.reset();
      return 'Everything but users and workspaces was removed.';
    default:
      return action satisfies never;
  }
}

function placeOf({ credentialsFile, data }: StateOptions): Place {
  if (credentialsFile !== undefined) return running(credentialsFile);
  if (data !== ':memory:') return stopped(data);
  throw new Error(
    'name the sandbox: --credentials-file as it was given to one that runs, or --data of one that does not',
  );
}

/** The data of a sandbox that does not run. */
function stopped(data: string): Place {
  const kept = (): void => {
    if (existsSync(join(data, 'sandbox.db'))) return;
    throw new Error(
      `--data ${data}: no sandbox has kept anything there; name the --data it was started with`,
    );
  };
  const work = async <T>(task: (store: Store, now: number) => T): Promise<T> => {
    const store = new Store(data);
    try {
      const skew = Number(store.settings.get('skew')?.value ?? 0);
      return task(store, new ServiceTime(systemClock, skew).now());
    } finally {
      store.close();
    }
  };
  return {
    export: async (secrets) => {
      kept();
      return work((store, now) => format(exportState(store, { now, secrets })));
    },
    import: async (text) => {
      // Before the data are made or opened: a state that is refused leaves nothing behind.
      const state = parseState(text);
      return work((store) => {
        importState(store, state);
        const value = state.now - systemClock.now();
        store.database.run(() => store.settings.put({ id: 'skew', value }));
      });
    },
    reset: async () => {
      kept();
      return work((store, now) => resetState(store, now));
    },
  };
}

const format = (state: unknown): string => `${JSON.stringify(state, null, 2)}\n`;

function credentialsOf(text: string): { adminUrl?: unknown; adminToken?: unknown } {
  try {
    return (JSON.parse(text) ?? {}) as object;
  } catch {
    return {};
  }
}

/** A sandbox that runs, by its admin port. */
function running(credentialsFile: string): Place {
  const { adminUrl, adminToken } = credentialsOf(readFileSync(credentialsFile, 'utf8'));
  if (typeof adminUrl !== 'string' || !URL.canParse(adminUrl) || typeof adminToken !== 'string') {
    throw new Error(
      `--credentials-file ${credentialsFile}: it names no admin port; give the file that the sandbox wrote`,
    );
  }
  const call = async (method: 'GET' | 'PUT' | 'DELETE', path: string, body?: string): Promise<unknown> => {
    const { request } = await import('./request.ts');
    const { statusCode, body: answer } = await request(`${adminUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}` },
      ...(body === undefined ? {} : { body }),
    }).catch((cause: unknown) => {
      const message =
        `--credentials-file ${credentialsFile}: no sandbox answers at ${adminUrl}; ` +
        'start it, or name its --data instead';
      throw new Error(message, { cause });
    });
    const value = await answer.json();
    if (statusCode >= 300)
      throw new Error(String((value as { message?: string } | null)?.message ?? statusCode));
    return value;
  };
  return {
    export: async (secrets) => format(await call('GET', `/state?secrets=${secrets}`)),
    import: async (text) => void (await call('PUT', '/state', JSON.stringify(parseState(text)))),
    reset: async () => void (await call('DELETE', '/state')),
  };
}
