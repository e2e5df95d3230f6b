import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** The Chromium of this machine (Debian package `chromium`); undefined where there is none. */
export const CHROMIUM: string | undefined = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Starts it without a window. */
export function startChromium(): Promise<Browser> {
  if (CHROMIUM === undefined) throw new Error('there is no Chromium: install the Debian package chromium');
  // Its own sandbox needs rights that a container does not have, and it looks at nothing but our page.
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
}
