/** Facts about a span. Never contents, never secrets: traces leave the cluster. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

/** Something that has just ended. */
export interface PastSpan {
  name: string;
  attributes: SpanAttributes;
  /** How long it took. */
  ms: number;
  /** Why it counts as failed, a word of a closed list. */
  failure?: string;
}

/** Tells what was done on whose behalf, in the shape of OpenTelemetry's spans. */
export interface Tracer {
  /**
   * Does `work` inside a span. Whatever it calls is inside too, however late; what it throws is thrown on, and
   * marks the span as failed by the error's name alone.
   */
  within<T>(name: string, attributes: SpanAttributes, work: () => Promise<T>): Promise<T>;
  /** Notes something that was done inside the span around it, if there is one. */
  note(span: PastSpan): void;
}
