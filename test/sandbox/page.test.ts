import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../src/sandbox/fixture.ts';
import { CHROMIUM, startChromium } from '../support/chromium.ts';
import { focused, openTab, type Tab, type TabOptions } from './page/tab.ts';
import { startWorld, type World } from './page/world.ts';

/** What somebody has in front of them, and how many rows are still the same elements. */
async function seen(page: Tab['page']): Promise<unknown> {
  return page.evaluate(`({
    focus: document.activeElement.closest('tr')?.id,
    selected: getSelection().toString(),
    scroll: window.scrollY,
    kept: [...document.querySelectorAll('tbody tr')].filter((row) => row.mark).length,
  })`);
}

/** Where there is no Chromium nothing of this runs; CONTRIBUTING.md says how to get one. */
describe.skipIf(CHROMIUM === undefined)('the page in a browser (Debian package chromium)', () => {
  let world: World;
  let browser: Browser;
  beforeAll(async () => {
    [world, browser] = await Promise.all([startWorld(), startChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await world.sandbox.stop();
  });

  const visit = (options: Partial<TabOptions> = {}): Promise<Tab> =>
    openTab(browser, { link: world.sandbox.loginLink(), ...options });
  const idOf = (name: string): string => String(world.instances[name].id);
  const pathTo = (name: string): string => `${world.url}/page/instances/${idOf(name)}`;
  const tags = async (name: string, text: string): Promise<void> => {
    await ok(world.call('PUT', `/services/instances/${idOf(name)}`, { tags: [text] }));
  };

  it('is opened by a link that logs in once', async () => {
    const link = world.sandbox.loginLink();
    await using first = await openTab(browser, { link });
    expect(await first.page.title()).toBe('Instances · Boxwright sandbox');
    await using second = await openTab(browser, { link });
    expect(await second.page.getByRole('alert').textContent()).toContain('used already');
    await second.page.getByLabel('Email').fill('ops@example.com');
    await second.page.getByLabel('Password').fill('secret-1');
    await second.page.keyboard.press('Enter');
    await second.page.getByRole('heading', { name: 'Instances' }).waitFor();
  });

  it('shows news without losing focus, selection, scroll or what is not concerned', async () => {
    await using tab = await visit({ viewport: { width: 1280, height: 400 } });
    const { page } = tab;
    await page.goto(`${world.url}/page/instances`);
    const row = page.locator(`#row-${idOf('orders-db')}`);
    await row.getByRole('link').first().focus();
    await page.evaluate(`
      getSelection().selectAllChildren(document.querySelector('#row-${idOf('orders-db')} small'));
      window.scrollTo(0, 150);
      // Whoever makes rows anew loses this mark.
      for (const row of document.querySelectorAll('tbody tr')) row.mark = true;
    `);
    const before = await seen(page);
    expect(before).toMatchObject({ selected: idOf('orders-db'), scroll: 150 });
    // It moves to the top of the list.
    await tags('web-eu', 'news');
    await page.locator(`tbody tr:first-child#row-${idOf('web-eu')}`).waitFor();
    expect(await seen(page)).toEqual(before);
    expect(tab.complaints).toEqual([]);
  });

  it('keeps what somebody is typing, choosing and reading while the service has news', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.goto(pathTo('playground'));
    await page.locator('details.operation summary').click();
    await page.getByRole('button', { name: 'Renew lease' }).click();
    await page.getByRole('spinbutton').fill('77');
    await page.getByLabel('Then').selectOption('shutdown');
    await tags('playground', 'while-typing');
    await page.getByText('while-typing').waitFor({ state: 'attached' });
    expect(await page.getByRole('spinbutton').inputValue()).toBe('77');
    expect(await page.getByLabel('Then').inputValue()).toBe('shutdown');
    expect(await page.locator('details.operation[open]').count()).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Renew lease' }).click();
    await page.locator('#lease').getByText('shutdown in 3 d 5 h').waitFor();
    expect(tab.complaints).toEqual([]);
  });

  it('searches as one types, and remembers it in the address', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.keyboard.press('/');
    await page.keyboard.type('preview');
    await page.getByText('4 instances, of 11 in all').waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toBe('preview');
    await page.keyboard.type('-1852');
    await page.getByText('1 instance, of 11 in all').waitFor();
    expect(await page.getByRole('searchbox').inputValue()).toBe('preview-1852');
    expect(await focused(page)).toBe('q');
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.type('nothing like that');
    await page.getByText('No instances match').waitFor();
    await page.getByRole('link', { name: 'show all' }).click();
    await page.getByRole('link', { name: /^unavailable/ }).click();
    await page.getByText('1 instance, of 11 in all').waitFor();
    await page.reload();
    expect(await page.locator('tbody tr').count()).toBe(1);
    await page.goBack();
    await page.getByText('11 instances', { exact: true }).waitFor();
    await page.getByLabel('Owner').selectOption('shop');
    await page.getByText('4 instances, of 11 in all').waitFor();
    expect(page.url()).toContain('owner=shop');
    expect(tab.complaints).toEqual([]);
  });

  it('sorts by a heading and turns pages, by mouse and by keyboard', async () => {
    await using tab = await visit();
    const { page } = tab;
    world.sandbox.admin.clearCalls();
    for (let n = 100; n < 220; n++) await world.call('GET', `/services/boxes/never-${n}`);
    await page.goto(`${world.url}/page/calls?method=GET`);
    await page.getByText('1–50 of 120 calls').waitFor();
    await page.getByRole('link', { name: 'Path' }).click();
    const first = page.locator('tbody tr:first-child .path');
    await first.getByText('never-100').waitFor();
    await page.getByRole('link', { name: 'Next' }).click();
    await first.getByText('never-150').waitFor();
    await page.keyboard.press('n');
    await page.getByText('101–120 of 120 calls').waitFor();
    await page.keyboard.press('p');
    await first.getByText('never-150').waitFor();
    await page.getByLabel('Rows').selectOption('200');
    await page.getByText('120 calls', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Path' }).click();
    await first.getByText('never-219').waitFor();
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({ method: 'GET', sort: '-path', size: '200' });
    // What the page itself asked for meanwhile is no call.
    expect(world.sandbox.admin.calls()).toHaveLength(120);
    expect(tab.complaints).toEqual([]);
  });

  it('does everything by the keyboard', async () => {
    await using tab = await visit();
    const { page } = tab;
    const { keyboard } = page;
    await keyboard.press('g');
    await keyboard.press('b');
    await page.waitForURL('**/page/boxes');
    await keyboard.press('j');
    await keyboard.press('j');
    await keyboard.press('k');
    expect(await focused(page)).toBe('worker');
    await keyboard.press('Enter');
    await page.waitForURL(`**/boxes/*`);
    await page.getByRole('heading', { name: 'worker', level: 1 }).waitFor();
    await keyboard.press('u');
    await page.waitForURL('**/page/boxes');
    await keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await keyboard.press('Escape');
    // Who speaks to the computer switches single keys off.
    await keyboard.press('?');
    await page.getByLabel('Single keys do something').uncheck();
    await keyboard.press('Escape');
    await keyboard.press('g');
    await keyboard.press('i');
    expect(page.url()).toMatch(/\/boxes$/);
    await page.getByRole('button', { name: 'Live' }).focus();
    await keyboard.press('Enter');
    await page.getByRole('button', { name: 'Paused' }).waitFor();
  });

  it('asks before it acts, acts once, and shows how it goes on', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.goto(pathTo('orders-db'));
    world.sandbox.admin.clearCalls();
    const asked = page.getByRole('button', { name: 'Shut down' });
    await asked.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Shut down orders-db?' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(world.sandbox.admin.calls()).toEqual([]);
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Shut down' }).press('Enter');
    await page.locator('.sub .state.processing').waitFor();
    expect(world.sandbox.admin.calls().map(({ method, path }) => [method, path])).toEqual([
      ['PUT', `/services/instances/${idOf('orders-db')}/shutdown`],
    ]);
    await world.clock.advance(5_000);
    await page.locator('.sub .state.done').waitFor();
    // What cannot be done now is there and keeps the focus, and does nothing.
    expect(await focused(page)).toBe('do-shutdown');
    expect(await asked.getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.getByRole('button', { name: 'Power on' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Power on' }).click();
    await page.locator('.sub .state.processing').waitFor();
    await world.clock.advance(5_000);
    expect(tab.complaints).toEqual([]);
  });

  it('says what the service said against an action', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.goto(pathTo('playground'));
    const match = { route: '/services/instances/{instance_id}/reinstall' };
    world.sandbox.admin.addFault({ match, status: 409, message: 'not on a Monday', times: 1 });
    await page.getByRole('button', { name: 'Reinstall' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reinstall' }).click();
    await page.getByRole('alert').getByText('not on a Monday').waitFor();
    expect(page.url()).toBe(pathTo('playground'));
  });

  it('makes a box and a policy box, deploys, terminates and deletes', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.goto(`${world.url}/page/boxes`);
    await page.getByRole('link', { name: 'New box' }).click();
    await page.getByLabel('Name', { exact: true }).first().fill('by hand');
    await page.getByPlaceholder('NAME').first().fill('PORT');
    await page.getByPlaceholder('value').first().fill('80');
    await page.getByRole('button', { name: 'Another variable' }).click();
    expect(await page.getByPlaceholder('NAME').count()).toBe(4);
    await page.getByLabel('install').fill('echo "made by hand on $PORT"');
    await page.getByRole('button', { name: 'Make it' }).click();
    await page.getByRole('link', { name: 'Deploy…' }).click();
    await page.getByLabel('Name').fill('hand-1');
    await page.getByLabel('PORT').fill('8081');
    await page.getByLabel('Then').selectOption('terminate');
    await page.getByRole('button', { name: 'Deploy' }).click();
    await page.getByRole('heading', { name: 'hand-1' }).waitFor();
    await world.clock.advance(5_000);
    await page.locator('.sub .state.done').waitFor();
    expect(await page.locator('#machine-log').textContent()).toContain('made by hand');
    expect(await page.locator('#variables').textContent()).toContain('8081');
    expect(await page.locator('#lease').textContent()).toContain('terminate in 7 h 59 min');
    await page.getByRole('button', { name: 'Terminate', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Terminate', exact: true }).click();
    await page.locator('.sub .state.processing').waitFor();
    await world.clock.advance(5_000);
    await page.locator('.sub').getByText('terminate_service').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.waitForURL('**/page/instances');
    expect(await page.getByText('hand-1').count()).toBe(0);
    expect(tab.complaints).toEqual([]);
  });

  it('works without scripts, dialogs and all', async () => {
    await using tab = await visit({ javaScriptEnabled: false });
    const { page } = tab;
    await page.getByRole('searchbox').fill('playground');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'playground' }).click();
    await page.getByRole('button', { name: 'Reconfigure' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reconfigure' }).click();
    await page.locator('.sub .state.processing').waitFor();
    expect(page.url()).toBe(pathTo('playground'));
    await world.clock.advance(5_000);
  });

  it('says that an address leads nowhere, and that a list is empty and why', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.goto(`${world.url}/page/instances/i-never`);
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'There is no instance i-never that you can see',
    );
    world.sandbox.admin.clearCalls();
    await page.goto(`${world.url}/page/calls`);
    expect(await page.locator('main').textContent()).toContain('No client has called yet');
  });

  it('asks for a new login when the old one is worth nothing any more', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.goto(`${world.url}/page/boxes?owner=shop`);
    const other = await page.context().newPage();
    await other.goto(`${world.url}/page/calls`);
    await other.getByRole('button', { name: 'Log out' }).click();
    await other.getByLabel('Email').waitFor();
    await other.close();
    await page.getByLabel('Email').waitFor();
    await page.getByLabel('Email').fill('ops@example.com');
    await page.getByLabel('Password').fill('secret-1');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('1 box, of 4 in all').or(page.getByText('1 box, of 5 in all')).waitFor();
    expect(page.url()).toBe(`${world.url}/page/boxes?owner=shop`);
  });

  it('says that the service does not answer, and goes on when it does', async () => {
    await using tab = await visit();
    const { page } = tab;
    await page.route('**/instances', (route) => route.abort());
    await page.getByText('The service does not answer').waitFor();
    await page.unroute('**/instances');
    await page.getByText('The service does not answer').waitFor({ state: 'hidden' });
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(10);
  });

  it('shows what a script prints while it runs, and follows it until its reader scrolls away', async () => {
    await using stack = new AsyncDisposableStack();
    const real = await startWorld({ runScripts: true });
    stack.defer(() => real.sandbox.stop());
    const box = await real.makeBox('talker', {
      scripts: { start: 'seq -f "line %g" 1 200; while [ ! -e go ]; do sleep 0.05; done; echo "the end"\n' },
    });
    const made = await real.deploy({ box, policy: real.small }, { name: 'talker' });
    await using tab = await openTab(browser, { link: real.sandbox.loginLink() });
    const { page } = tab;
    await page.goto(`${real.url}/page/instances/${made.id}`);
    // Machines are made, then the script runs, and goes on for as long as the test likes.
    await real.clock.advance(3_000);
    const log = page.locator('#machine-log');
    await log.getByText('line 200').waitFor();
    await log.getByText('start (running)').waitFor();
    const beyond = (): Promise<number> =>
      log.evaluate((each) => each.scrollHeight - each.clientHeight - each.scrollTop);
    expect(await beyond()).toBeLessThan(2);
    await log.evaluate((each) => each.scrollTo(0, 40));
    await page.locator('[data-follows="machine-log"][aria-pressed="false"]').waitFor();
    expect(await beyond()).toBeGreaterThan(1_000);
    await page.locator('[data-follows="machine-log"]').click();
    expect(await beyond()).toBeLessThan(2);
    expect(tab.complaints).toEqual([]);
  });
});
