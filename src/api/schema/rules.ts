import { DURATION_PATTERN, parseDuration } from '../../base/duration.ts';

/**
 * Rules that no JSON Schema keyword expresses. Each is written twice on purpose: as CEL for the API server
 * and as a function for objects that an older schema let through. A unit test runs both over the same
 * values. Rules that compare with the stored object have no function: the API server alone sees both.
 */
export interface Rule {
  /** CEL over `self`, and `oldSelf` in a transition rule. */
  rule: string;
  /** Says what to do instead. */
  message: string;
  /** The same over the value, defaults filled in. Absent for transition rules. */
  holds?: (value: never) => boolean;
}

type Fields = Record<string, unknown>;

/*
 * What a rule costs: the API server runs all of them at every write, also at one to status, and each time that one
 * reads a field it builds the schemas of all fields beside it anew, twice where the field is there. A rule on an
 * object of thirty fields costs ten times what it does on one of three. So a rule stands as far down as it can, and
 * what must stand on a wide object reads as little of it as it can, the fields that are mostly absent first.
 */

function count(value: Fields, names: readonly string[]): number {
  return names.filter((name) => value[name] !== undefined).length;
}

function sum(names: readonly string[]): string {
  return names.map((name) => `(has(self.${name}) ? 1 : 0)`).join(' + ');
}

/** Exactly one of the fields is set. */
export function exactlyOne(names: readonly string[], message: string): Rule {
  const [one, other] = names;
  const rule = names.length === 2 ? `has(self.${one}) != has(self.${other})` : `${sum(names)} == 1`;
  return { rule, message, holds: (value: Fields) => count(value, names) === 1 };
}

/** None or one of the fields is set; the first is the rarest. */
export function atMostOne(names: readonly string[], message: string): Rule {
  const [one, other] = names;
  const rule = names.length === 2 ? `!has(self.${one}) || !has(self.${other})` : `${sum(names)} <= 1`;
  return { rule, message, holds: (value: Fields) => count(value, names) <= 1 };
}

/** The value never changes while it is there. The rule stands on the field itself. */
export function unchanged(field: string, instead: string): Rule {
  return { rule: 'self == oldSelf', message: `${field} is immutable: ${instead}` };
}

/**
 * The field is neither added nor removed. The rule stands on the object that holds the field: one on the field itself
 * would not run when the field comes or goes.
 */
export function keptAsIs(field: string, instead: string): Rule {
  return {
    rule: `has(self.${field}) == has(oldSelf.${field})`,
    message: `${field} is immutable: ${instead}`,
  };
}

/** How every rule of {@link matches} begins; the parser finds its message by it. */
export const MATCHES = 'self.matches(';

/** Repeats a pattern as a rule, since a pattern alone cannot say what to write. */
export function matches(pattern: string, message: string): Rule {
  return { rule: `${MATCHES}'${escaped(pattern)}')`, message };
}

/** A duration within bounds. What is no duration at all passes: that is the pattern's to say. */
export function between(shortest: string, longest: string): Rule {
  const whole = new RegExp(DURATION_PATTERN);
  const [min, max] = [parseDuration(shortest), parseDuration(longest)];
  return {
    rule: `!self.matches('${escaped(DURATION_PATTERN)}') || (duration(self) >= duration('${shortest}') && duration(self) <= duration('${longest}'))`,
    message: `must be a duration from ${shortest} to ${longest}`,
    holds: (text: string) => !whole.test(text) || (parseDuration(text) >= min && parseDuration(text) <= max),
  };
}

/** Text without white space around it, which the service might trim. */
const TRIMMED = '^[^\\s]([^\\n]*[^\\s])?$';

/** What the operator puts on records as a name or tag: see the marker of a resource. */
const MARKER = '^bw-[a-z2-7]{8}-[a-z2-7]{16}$';
const MARKERS = new RegExp(MARKER);

/** Whether a text is a marker, of whichever installation. */
export function isMarker(text: unknown): text is string {
  return typeof text === 'string' && MARKERS.test(text);
}

/** A name or tag that a person gives: trimmed, and not one of the operator's own. */
export function ownWords(): { pattern: string; hint: string; rules: Rule[] } {
  return {
    pattern: TRIMMED,
    hint: 'must not begin or end with white space',
    rules: [
      {
        rule: `!self.matches('${MARKER}')`,
        message: 'must not look like a marker of the operator (bw-…): use other text',
        holds: (text: string) => !isMarker(text),
      },
    ],
  };
}

/** A pattern inside a CEL string. */
function escaped(pattern: string): string {
  return pattern.replaceAll('\\', '\\\\');
}
