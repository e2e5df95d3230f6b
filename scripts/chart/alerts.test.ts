import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { alerts, THRESHOLDS } from './alerts.ts';

const root = join(import.meta.dirname, '../..');
const runbooks = join(root, 'docs/runbooks');
const cases = join(root, 'test/promtool');

interface Case {
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
}

const NAMED = /\$([a-z][A-Za-z]*)/g;
const thresholdsOf = (text: string): string[] =>
  [...text.matchAll(NAMED)].map(([, name = '']) => name).filter((name) => name !== 'job');

describe('every alert', () => {
  it('has a runbook that says what it means, what to look at and what to do, and no other runbook is there', () => {
    const pages = readdirSync(runbooks).filter((name) => name !== 'README.md');
    expect(pages.toSorted()).toEqual(alerts.map(({ name }) => `${name}.md`).toSorted());
    for (const page of pages) {
      const text = readFileSync(join(runbooks, page), 'utf8');
      expect(text.split('\n')[0]).toBe(`# ${page.replace('.md', '')}`);
      expect(text.match(/^## .*$/gm)).toEqual(['## What it means', '## What to look at', '## What to do']);
      expect(text).not.toMatch(/^## .*\n+(?=## |$(?![\s\S]))/m);
    }
  });

  it('has a runbook whose links lead somewhere', () => {
    for (const page of readdirSync(runbooks)) {
      const text = readFileSync(join(runbooks, page), 'utf8');
      for (const [, target = ''] of text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)) {
        expect(() => readFileSync(join(runbooks, target)), `${page}: ${target}`).not.toThrow();
      }
    }
  });

  it('has a runbook that names its threshold, which is a value of the chart', () => {
    const used = alerts.flatMap((alert) => {
      const names = [...thresholdsOf(alert.expr), ...thresholdsOf(alert.for)];
      const text = readFileSync(join(runbooks, `${alert.name}.md`), 'utf8');
      for (const name of names) expect(text).toContain(`metrics.rules.thresholds.${name}`);
      return names;
    });
    expect(used.toSorted()).toEqual(Object.keys(THRESHOLDS).toSorted());
  });

  it('fires in one case for promtool and is silent in another', () => {
    const tests = readdirSync(cases).flatMap(
      (name) => (parse(readFileSync(join(cases, name), 'utf8')) as { tests: Case[] }).tests,
    );
    const asked = tests.flatMap(({ alert_rule_test }) => alert_rule_test);
    const names = alerts.map(({ name }) => name).toSorted();
    const of = (fires: boolean): string[] => [
      ...new Set(
        asked.filter(({ exp_alerts }) => exp_alerts.length > 0 === fires).map(({ alertname }) => alertname),
      ),
    ];
    expect(of(true).toSorted()).toEqual(names);
    expect(of(false).toSorted()).toEqual(names);
  });
});
