/** The metrics and labels that a PromQL expression names. */
export interface PromqlNames {
  /** Each selector: a metric with the labels in its braces. */
  readonly selectors: readonly { readonly metric: string; readonly labels: readonly string[] }[];
  /** Labels of `by`, `without`, `on`, `ignoring`, `group_left` and `group_right`. */
  readonly grouped: readonly string[];
}

const strings = /"(?:[^"\\]|\\.)*"/g;
const grouping = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
/** A name that no parenthesis follows, with its braces. */
const selector = /\b([a-zA-Z_:][\w:]*)\b(?!\s*\()\s*(?:\{([^}]*)\})?/g;
const words = /^(and|or|unless|bool|offset|Inf|NaN|[a-z]|\d+[smhdwy])$/;

/**
 * Reads the names in an expression that promtool accepts, which therefore need not be parsed. Grafana's variables in strings and
 * ranges are ignored.
 */
export function promqlNames(expression: string): PromqlNames {
  const bare = expression.replaceAll(strings, '""').replaceAll(/\[[^\]]*\]/g, "");
  const grouped = [...bare.matchAll(grouping)].flatMap(([, labels = ""]) => namesOf(labels));
  const rest = bare.replaceAll(grouping, "");
  const selectors = [...rest.matchAll(selector)].flatMap(([, metric = "", inside = ""]) =>
    words.test(metric)
      ? []
      : [{ metric, labels: inside.split(",").flatMap((each) => namesOf(each.split(/[=!]/)[0] ?? "")) }],
  );
  return { selectors, grouped };
}

function namesOf(text: string): string[] {
  return text.split(",").flatMap((each) => each.trim() || []);
}
