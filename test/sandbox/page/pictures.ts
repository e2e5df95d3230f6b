/**
 * Takes the pictures of docs/pictures: lists and details, light and dark, on a desktop and on a phone.
 * Usage: node test/sandbox/page/pictures.ts [folder]
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startChromium } from '../../support/chromium.ts';
import { openTab, PHONE } from './tab.ts';
import { startWorld } from './world.ts';

/** Small enough for files that one waits for. */
const DESKTOP = { width: 1280, height: 760 };

const folder = process.argv[2] ?? join(import.meta.dirname, '../../../docs/pictures');
mkdirSync(folder, { recursive: true });

const world = await startWorld();
const browser = await startChromium();
const pages = {
  instances: '/page/instances',
  instance: `/page/instances/${world.instances['web-eu'].id}`,
  box: `/page/boxes/${world.web.id}`,
};
try {
  for (const [size, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await using tab = await openTab(browser, {
        link: world.sandbox.loginLink(),
        viewport,
        colorScheme,
        reducedMotion: 'reduce',
      });
      for (const [name, path] of Object.entries(pages)) {
        if (name === 'box' && (size === 'phone' || colorScheme === 'dark')) continue;
        await tab.page.goto(`${world.url}${path}`);
        await tab.page.screenshot({ path: join(folder, `${name}-${size}-${colorScheme}.png`) });
      }
    }
  }
} finally {
  await browser.close();
  await world.sandbox.stop();
}
