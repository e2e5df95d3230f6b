import { wrap, type Paint } from '../../terminal.ts';
import type { Check, State } from './check.ts';

const WORDS: Readonly<Record<State, string>> = {
  Fine: 'ok',
  Doubtful: 'warning',
  Wrong: 'WRONG',
  Unknown: 'unknown',
};
const COLOURS = { Fine: 'green', Doubtful: 'yellow', Wrong: 'red', Unknown: 'dim' } as const;
const INDENT = ' '.repeat(9);

/** The checks in their order, then what to do. */
export function diagnosisLines(
  heading: string,
  checks: readonly Check[],
  { width, paint }: { width: number; paint: Paint },
): string[] {
  const set = (text: string, first: string): string[] =>
    wrap(text, width - INDENT.length).map((line, index) => `${index === 0 ? first : INDENT}${line}`);
  const lines = checks.flatMap(({ title, state, found }) => {
    const label = paint[COLOURS[state]](WORDS[state].padEnd(INDENT.length));
    const [one = ''] = found;
    return found.length === 1
      ? set(`${title}: ${one}`, label)
      : [...set(`${title}:`, label), ...found.flatMap((text) => set(text, INDENT))];
  });
  const steps = checks.flatMap(({ nextSteps }) => nextSteps);
  const todo = steps.flatMap((step) =>
    wrap(step, width - 4).map((line, index) => `${index === 0 ? '  - ' : '    '}${line}`),
  );
  return [
    ...wrap(heading, width),
    '',
    ...lines,
    ...(todo.length === 0 ? [] : ['', paint.bold('What to do'), ...todo]),
  ];
}

/** The same for programs. */
export function diagnosisObject(checks: readonly Check[]): object {
  return {
    apiVersion: 'cli.boxwright.dev/v1alpha1',
    kind: 'Diagnosis',
    wrong: checks.filter(({ state }) => state === 'Wrong').length,
    doubtful: checks.filter(({ state }) => state === 'Doubtful').length,
    checks,
  };
}
