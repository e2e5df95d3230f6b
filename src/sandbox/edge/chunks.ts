import type { SandboxAnswer } from '../http.ts';

/** An answer whose body comes piece by piece: it need not be in memory as a whole. */
export interface StreamedAnswer extends Omit<SandboxAnswer, 'body'> {
  chunks: Iterable<Uint8Array>;
}

export type Answer = SandboxAnswer | StreamedAnswer;

/** Characters of a chunk, about. */
const CHUNK = 128_000;

/** `[a,b]` in chunks; each item is made when its chunk is. */
export function* listChunks(items: Iterable<string>): Generator<Uint8Array> {
  let text = '[';
  let first = true;
  for (const item of items) {
    text += first ? item : `,${item}`;
    first = false;
    if (text.length < CHUNK) continue;
    yield Buffer.from(text, 'utf8');
    text = '';
  }
  yield Buffer.from(`${text}]`, 'utf8');
}

/** The same answer with its whole body. */
export function collected(answer: Answer): SandboxAnswer {
  if ('body' in answer) return answer;
  const { chunks, ...head } = answer;
  return { ...head, body: Buffer.concat([...chunks]) };
}
