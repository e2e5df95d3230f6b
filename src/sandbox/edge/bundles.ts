import type { ReadingChoice } from './readings.ts';

/** Readings that belong together, under one name. */
export interface Bundle {
  /** One sentence for the documentation. */
  about: string;
  readings: ReadingChoice;
}

/** What `--as` knows. */
export const BUNDLES = {
  classic: {
    about: 'Old clients of such services: the token as text, a box in one POST, names of 36 characters.',
    readings: { login: 'text', boxPost: 'complete', nameLength: '256' },
  },
} as const satisfies Readonly<Record<string, Bundle>>;

/** The readings of the named bundles, later ones over earlier ones. @throws Error that names the bundles */
export function bundledReadings(names: readonly string[]): ReadingChoice {
  const table: Readonly<Record<string, Bundle>> = BUNDLES;
  const chosen = names.map((name) => {
    const bundle = Object.hasOwn(table, name) ? table[name] : undefined;
    if (bundle === undefined) {
      throw new Error(`no readings are bundled as "${name}": choose one of ${Object.keys(table).join(', ')}`);
    }
    return bundle.readings;
  });
  return Object.assign({}, ...chosen) as ReadingChoice;
}
