import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';

/** A window on a service, of a browser that forgets everything afterwards. */
export interface Tab extends AsyncDisposable {
  page: Page;
  /** What the browser complained about: scripts that failed, what the content security policy kept out. */
  complaints: string[];
}

export interface TabOptions extends BrowserContextOptions {
  /** Where to begin; a link that logs in, most of the time. */
  link: string;
}

export const DESKTOP = { width: 1280, height: 860 };
export const PHONE = { width: 390, height: 844 };

export async function openTab(browser: Browser, { link, ...options }: TabOptions): Promise<Tab> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // An answer that is no success is part of what is tried.
    if (message.type() === 'error' && !message.text().includes('status of 4'))
      complaints.push(message.text());
  });
  await page.goto(link);
  return { page, complaints, [Symbol.asyncDispose]: () => context.close() };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** The rules of axe-core whose outcome depends on theme and size. */
export const OF_LOOKS = [
  'color-contrast',
  'link-in-text-block',
  'scrollable-region-focusable',
  'target-size',
];

/** What axe-core finds on the page as it is, by these rules or all, a line for each place. */
export async function barriers(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(axe);
  const runOnly = rules === undefined ? {} : { runOnly: { type: 'rule', values: rules } };
  const options = JSON.stringify({ resultTypes: ['violations'], ...runOnly });
  const violations = await page.evaluate(`axe.run(${options}).then(({ violations }) => violations)`);
  return (violations as Violation[]).flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${impact} ${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** The id of what has the focus, or its text. */
export function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()');
}

/** By how much the page is wider than its window, pixels. */
export function overhang(page: Page): Promise<number> {
  return page.evaluate('Math.max(0, document.documentElement.scrollWidth - window.innerWidth)');
}
