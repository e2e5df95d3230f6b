/** What a PromQL expression says of series: enough to compare it with the metrics that there are. */
export interface Selector {
  metric: string;
  /** Labels that its matchers name. */
  labels: string[];
  /** Values that `=` matchers ask for, by label. */
  exactly: Record<string, string>;
}

export interface Query {
  selectors: Selector[];
  /** Labels of `by (…)`, `on (…)`, `ignoring (…)`, `group_left (…)`. */
  grouped: string[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const STRING = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/g;
const IDENTIFIER = /[a-zA-Z_:][a-zA-Z0-9_:]*/g;
const WORDS: ReadonlySet<string> = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan']);

/** Reads an expression. Whatever is a name, no function and no word of the language, is a metric. */
export function readQuery(expr: string): Query {
  const grouped: string[] = [];
  const strings: string[] = [];
  let rest = expr.replaceAll(STRING, (text) => {
    strings.push(text.slice(1, -1));
    return `"${strings.length - 1}"`;
  });
  rest = rest.replaceAll(GROUPING, (_whole, list: string) => {
    grouped.push(
      ...list
        .split(',')
        .map((label) => label.trim())
        .filter((label) => label !== ''),
    );
    return ' ';
  });
  const matchers: { label: string; operator: string; value: string }[][] = [];
  rest = rest.replaceAll(/\{([^}]*)\}/g, (_whole, inside: string) => {
    matchers.push(
      [...inside.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*"(\d+)"/g)].map(
        ([, label = '', operator = '', at = '']) => ({ label, operator, value: strings[Number(at)] ?? '' }),
      ),
    );
    return `{${matchers.length - 1}}`;
  });
  rest = rest.replaceAll(/\[[^\]]*\]/g, ' ');
  const selectors: Selector[] = [];
  for (const found of rest.matchAll(IDENTIFIER)) {
    const [metric] = found;
    const after = rest.slice(found.index + metric.length);
    // A number's exponent or unit is no name.
    if (/[0-9.]$/.test(rest.slice(0, found.index))) continue;
    if (WORDS.has(metric.toLowerCase()) || /^\s*\(/.test(after)) continue;
    // An aggregation whose grouping stood between its name and its bracket.
    if (/^(?:sum|min|max|avg|count|topk)$/.test(metric)) continue;
    const of = matchers[Number(/^\s*\{(\d+)\}/.exec(after)?.[1])] ?? [];
    selectors.push({
      metric,
      labels: of.map(({ label }) => label),
      exactly: Object.fromEntries(
        of.filter(({ operator }) => operator === '=').map(({ label, value }) => [label, value]),
      ),
    });
  }
  return { selectors, grouped };
}
