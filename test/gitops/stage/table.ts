import { afterAll, afterEach, beforeEach, type TestContext } from 'vitest';
import { formatDuration } from '../../../src/base/duration.ts';

interface Row {
  name: string;
  start: number;
  ms: number;
  ok: boolean;
  note: string;
}

/**
 * The checks of one suite, which stand on what those before them left: after one that failed, the others are not
 * tried. Printed as a table at the end.
 */
export class Table {
  readonly #title: string;
  readonly #versions: string[] = [];
  readonly #rows: Row[] = [];

  constructor(title: string) {
    this.#title = title;
    beforeEach((context) => this.#begin(context));
    afterEach((context) => this.#end(context));
    afterAll(() => this.#print());
  }

  /** What it ran with. */
  with(...versions: string[]): void {
    this.#versions.push(...versions);
  }

  /** Says more of the check that runs. */
  note(text: string): void {
    const row = this.#rows.at(-1);
    if (row !== undefined) row.note = text;
  }

  #begin({ task, skip }: TestContext): void {
    if (this.#rows.some(({ ok }) => !ok)) skip('a check before it failed');
    this.#rows.push({ name: task.name, start: performance.now(), ms: 0, ok: false, note: '' });
  }

  #end({ task }: TestContext): void {
    const row = this.#rows.at(-1);
    if (row?.name !== task.name) return;
    row.ms = performance.now() - row.start;
    row.ok = task.result?.state !== 'fail' && (task.result?.errors ?? []).length === 0;
  }

  #print(): void {
    const width = Math.max(0, ...this.#rows.map(({ name }) => name.length));
    const lines = this.#rows.map(({ name, ms, ok, note }) => {
      const took = formatDuration(Math.max(1, Math.round(ms / 1000)) * 1000);
      return `${ok ? 'ok    ' : 'FAILED'} ${name.padEnd(width)} ${took.padStart(8)}  ${note}`.trimEnd();
    });
    const head = `== ${this.#title}: ${this.#versions.join(', ')}`;
    process.stderr.write(`\n${[head, ...lines].join('\n')}\n`);
  }
}
