/** The longest call whose answer still tells the time well enough, milliseconds. */
const LONGEST_CALL_MS = 20_000;
/** `Date` has whole seconds: on average it is half a second older than it says. */
const HALF_SECOND_MS = 500;

/** How far the service's clock is from ours, by the `Date` of its answers (RFC 9110, 6.6.1). */
export class ClockSkew {
  #ms: number | undefined;

  /** Positive: the service's clock is ahead. Undefined: no answer has told so far. */
  get ms(): number | undefined {
    return this.#ms;
  }

  /** Takes an answer; the times are our own, before it was sent and after it came. */
  note(headers: Readonly<Record<string, string>>, sentAt: number, answeredAt: number): void {
    // What a cache answers was said at another time.
    if (headers['age'] !== undefined || answeredAt - sentAt > LONGEST_CALL_MS) return;
    const said = Date.parse(headers['date'] ?? '');
    if (Number.isNaN(said)) return;
    this.#ms = said + HALF_SECOND_MS - (sentAt + answeredAt) / 2;
  }
}
