/**
 * Prints the GitOps checklist as a table: line, tests or reason, and, given reports of `vitest --reporter=json`,
 * whether they passed. Usage: node scripts/gitops-table.ts [report.json...]
 */
import { readFileSync } from 'node:fs';
import { CHECKLIST, type ChecklistLine } from '../test/gitops-checklist.ts';
import { table } from './markdown.ts';

interface Report {
  testResults: { name: string; assertionResults: { title: string; status: string }[] }[];
}

const results = process.argv
  .slice(2)
  .flatMap((path) => (JSON.parse(readFileSync(path, 'utf8')) as Report).testResults);

/** pass, fail, or nothing where no report speaks of the test. */
function outcome({ tests }: ChecklistLine): string {
  const found = tests.map(([file, name]) => {
    const part = name.split('%s')[0]?.split('$')[0] ?? name;
    const all = results
      .filter((result) => result.name.endsWith(file))
      .flatMap((result) => result.assertionResults.filter(({ title }) => title.includes(part)));
    if (all.length === 0) return undefined;
    return all.every(({ status }) => status === 'passed');
  });
  if (found.includes(false)) return 'fail';
  return found.length > 0 && found.every((one) => one === true) ? 'pass' : '';
}

const rows = CHECKLIST.map((one) => [
  one.id,
  one.says,
  one.tests.map(([file, name]) => `${file}: ${name}`).join('; '),
  outcome(one),
  one.note ?? '',
]);
process.stdout.write(`${table(['line', 'says', 'shown by', 'outcome', 'what is left out'], rows)}\n\n`);
const tested = CHECKLIST.filter(({ tests }) => tests.length > 0).length;
process.stdout.write(`${tested} of ${CHECKLIST.length} lines have tests\n`);
