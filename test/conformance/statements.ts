import { createHash } from 'node:crypto';

/** One statement of the interface document: a row of a table, or a sentence. */
export interface Statement {
  /** `2.6`, or `3` where a section has no subsections. */
  section: string;
  text: string;
  /** First eight hex digits of SHA-256 of section and text: what the inventory refers to. */
  mark: string;
}

/** The statements of sections 1 to 9: every table row but the heading, and every sentence. */
export function statementsOf(markdown: string): Statement[] {
  const statements: Statement[] = [];
  let section = '';
  const lines = markdown.split(/\r?\n/);
  for (const [n, line] of lines.entries()) {
    const heading = /^#{2,3} (\d+(?:\.\d+)?)/.exec(line);
    if (heading !== null) {
      section = heading[1] ?? '';
      continue;
    }
    if (section === '' || line.trim() === '' || line.startsWith('#')) continue;
    if (line.startsWith('|')) {
      const isRule = /^\|[\s:|-]+\|$/.test(line);
      const isHeading = /^\|[\s:|-]+\|$/.test(lines[n + 1] ?? '');
      if (!isRule && !isHeading) statements.push(statement(section, line));
      continue;
    }
    for (const sentence of sentences(line)) statements.push(statement(section, sentence));
  }
  return statements;
}

function sentences(line: string): string[] {
  return line
    .replace(/^\s*(?:[-*]|\d+\.)\s+/, '')
    .split(/(?<=[.;:])\s+(?=[A-Z`{(])/)
    .map((text) => text.trim())
    .filter((text) => /\w/.test(text));
}

function statement(section: string, text: string): Statement {
  const plain = text.replaceAll(/\s+/g, ' ').trim();
  const mark = createHash('sha256').update(`${section} ${plain}`).digest('hex').slice(0, 8);
  return { section, text: plain, mark };
}
