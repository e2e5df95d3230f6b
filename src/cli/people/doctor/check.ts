/** How a check came out: `Unknown` where the person may not see what it needs. */
export type State = 'Fine' | 'Doubtful' | 'Wrong' | 'Unknown';

/** One thing that was looked at. */
export interface Check {
  /** Stable, for programs. */
  id: string;
  title: string;
  state: State;
  /** What was found, a sentence each. */
  found: readonly string[];
  /** What a person does about it. */
  nextSteps: readonly string[];
}

/** Something that a check objects to. */
export interface Complaint {
  state: 'Doubtful' | 'Wrong';
  text: string;
  nextStep?: string;
}

/** A check of what it objects to; without an objection it is fine, in the words of `well`. */
export function checkOf(
  id: string,
  title: string,
  complaints: readonly Complaint[],
  well: string | readonly string[],
): Check {
  const steps = complaints.flatMap(({ nextStep }) => (nextStep === undefined ? [] : [nextStep]));
  return {
    id,
    title,
    state: complaints.some(({ state }) => state === 'Wrong')
      ? 'Wrong'
      : complaints.length > 0
        ? 'Doubtful'
        : 'Fine',
    found: complaints.length > 0 ? complaints.map(({ text }) => text) : [well].flat(),
    nextSteps: [...new Set(steps)],
  };
}

/** A check that could not be made. */
export function unknown(id: string, title: string, why: string, nextStep?: string): Check {
  return { id, title, state: 'Unknown', found: [why], nextSteps: nextStep === undefined ? [] : [nextStep] };
}
