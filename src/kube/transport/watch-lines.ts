import { parseJson } from './json.ts';
import { noTurns, type Turns } from '../../base/turns.ts';
import { KubeTransportError, type WatchLine } from '../port.ts';

/** The store's limit for one object is about 1.5 MB; as JSON with its managed fields it may be larger. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** So many bytes of lines are parsed in one turn. */
const BYTES_A_TURN = 32_768;

/**
 * Cuts a watch's body into its lines, each one JSON. Chunks may end anywhere, inside a character too: bytes
 * are kept until a line is whole and only then decoded. What whoever takes a line does with it is done in the same turn.
 * @throws KubeTransportError for a line that is too long or no JSON, and for a body that ends inside a line
 */
export async function* watchLines(
  chunks: AsyncIterable<Uint8Array>,
  { maxLineBytes = MAX_LINE_BYTES, turns = noTurns }: { maxLineBytes?: number; turns?: Turns } = {},
): AsyncGenerator<WatchLine, void, undefined> {
  let kept: Uint8Array[] = [];
  let keptBytes = 0;
  let sinceTurn = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const rest = chunk.subarray(start, end);
      start = end + 1;
      sinceTurn += keptBytes + rest.length;
      if (sinceTurn > BYTES_A_TURN) {
        await turns.take();
        sinceTurn = keptBytes + rest.length;
      }
      const text = Buffer.concat([...kept, rest])
        .toString('utf8')
        .trim();
      kept = [];
      keptBytes = 0;
      if (text !== '') yield parseLine(text);
    }
    if (start < chunk.length) {
      kept.push(chunk.subarray(start));
      keptBytes += chunk.length - start;
    }
    if (keptBytes > maxLineBytes) {
      throw new KubeTransportError(`a line of a watch is longer than ${maxLineBytes} bytes`, {
        maybeSent: true,
      });
    }
  }
  if (keptBytes > 0) throw new KubeTransportError('the watch ended inside a line', { maybeSent: true });
}

const LINE_FEED = 0x0a;

function parseLine(text: string): WatchLine {
  const line = parseJson(text) as WatchLine | undefined | null;
  if (typeof line?.type !== 'string' || typeof line.object !== 'object') {
    throw new KubeTransportError('a line of a watch is no watch event', { maybeSent: true });
  }
  return line;
}
