import { mostSimilar } from '../base/similar.ts';

/** A variable as a Box or a PolicyBox declares it, as far as a value for it is judged. */
export interface Declared {
  name: string;
  type: string;
  required?: boolean | undefined;
  value?: unknown;
  valueFrom?: unknown;
  file?: unknown;
  options?: readonly string[] | undefined;
}

/** A value for a variable, on an Instance or in an override. */
export interface Given {
  name: string;
  type: string;
  value?: string | undefined;
}

/** What is wrong with a value: the field of it, and the sentence. */
export interface Misfit {
  field: 'name' | 'type' | 'value';
  message: string;
}

/** So many variables are listed in a sentence. */
const LISTED = 10;
/** So many words that are not known are guessed at in one judgement: whoever has that many wrong reads no more of them. */
const GUESSED = 5;

/** Says which word may be meant, for the first few; else nothing. */
export class Guesses {
  #left = GUESSED;

  /** `; did you mean PORT?`, or an empty text. */
  of(word: string, words: readonly string[]): string {
    if (this.#left === 0) return '';
    this.#left -= 1;
    const meant = mostSimilar(word, words);
    return meant === undefined ? '' : `; did you mean ${meant}?`;
  }
}

/**
 * What is wrong with a value for a variable of something that declares these: the service ignores a value that fits no
 * declaration and deploys the default.
 *
 * @param of - what declares them, for the sentence: `box web`
 */
export function misfitOf(
  given: Given,
  declared: readonly Declared[],
  of: string,
  guesses: Guesses,
): Misfit | undefined {
  const own = declared.find(({ name }) => name === given.name);
  if (own === undefined) {
    const names = declared.map(({ name }) => name);
    const guess = guesses.of(given.name, names) || '.';
    return { field: 'name', message: `${of} has no variable ${given.name}${guess} ${listOf(names)}` };
  }
  if (own.type !== given.type) {
    return {
      field: 'type',
      message: `variable ${given.name} of ${of} has type ${own.type}, not ${given.type}`,
    };
  }
  const { options } = own;
  if (own.type === 'Options' && given.value !== undefined && options?.includes(given.value) === false) {
    return { field: 'value', message: `variable ${given.name} of ${of} takes one of ${options.join(', ')}` };
  }
  return undefined;
}

/** The variables that need a value and have none. */
export function unfilled(declared: readonly Declared[], given: readonly Given[]): string[] {
  const names = new Set(given.map(({ name }) => name));
  return declared
    .filter(({ required, type }) => required === true && type !== 'Box')
    .filter(
      ({ value, valueFrom, file }) => value === undefined && valueFrom === undefined && file === undefined,
    )
    .map(({ name }) => name)
    .filter((name) => !names.has(name));
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'It has none';
  const more = names.length > LISTED ? ` and ${names.length - LISTED} more` : '';
  return `It has ${names.slice(0, LISTED).join(', ')}${more}`;
}
