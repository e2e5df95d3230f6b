import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CHROMIUM, startChromium } from '../support/chromium.ts';
import { barriers, DESKTOP, OF_LOOKS, openTab, overhang, PHONE } from './page/tab.ts';
import { startWorld, type World } from './page/world.ts';

/** Where there is no Chromium nothing of this runs; CONTRIBUTING.md says how to get one. */
describe.skipIf(CHROMIUM === undefined)('the page for everybody (Debian package chromium)', () => {
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    [world, browser] = await Promise.all([startWorld(), startChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await world.sandbox.stop();
  });

  let paths: string[] = [];
  beforeEach(() => {
    const { web, small, instances } = world;
    paths = [
      '/page/instances',
      '/page/instances?state=unavailable&q=none',
      `/page/instances/${instances['web-eu'].id}`,
      `/page/instances/${instances['orders-worker'].id}`,
      '/page/instances/i-never',
      '/page/boxes',
      '/page/boxes/new',
      '/page/boxes/new?type=policy',
      `/page/boxes/${web.id}`,
      `/page/boxes/${web.id}/deploy`,
      '/page/policy-boxes',
      `/page/policy-boxes/${small.id}`,
      '/page/providers',
      '/page/providers/00000000-0000-4000-8000-000000000001',
      '/page/workspaces',
      '/page/workspaces/shop',
      '/page/organization',
      '/page/blobs',
      `/page/blobs/${String(web.events.install.url).split('/')[4]}`,
      '/page/calls',
    ];
  });

  it('no page has a barrier that axe-core knows, light or dark, nor is wider than the window of a phone', async () => {
    await using tab = await openTab(browser, { link: world.sandbox.loginLink() });
    const { page } = tab;
    for (const path of paths) {
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize(DESKTOP);
      await page.goto(`${world.url}${path}`);
      expect([path, await barriers(page)]).toEqual([path, []]);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize(PHONE);
      expect([path, await barriers(page, OF_LOOKS)]).toEqual([path, []]);
      expect([path, await overhang(page)]).toEqual([path, 0]);
    }
    await page.goto(`${world.url}/page/instances/${world.instances['playground'].id}`);
    await page.getByRole('button', { name: 'Renew lease' }).click();
    expect(await barriers(page)).toEqual([]);
    expect(tab.complaints).toEqual([]);
  });

  it('the login has none either', async () => {
    await using tab = await openTab(browser, { link: `${world.url}/page/instances`, colorScheme: 'dark' });
    expect(await barriers(tab.page)).toEqual([]);
  });
});
