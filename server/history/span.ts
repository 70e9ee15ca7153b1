/**
 * A known value during the ticks from `from` to before `to`. A tick is one sampling step: a time in milliseconds since 1970,
 * divided by the step. What is in no span is unknown.
 */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

/** Returns the parts of spans that are also in other spans. Both are in ascending order; the values are those of the first. */
export function* intersect(spans: Iterable<Span>, others: readonly Omit<Span, "value">[]): Generator<Span> {
  let index = 0;
  for (const { from, to, value } of spans) {
    for (let other = others[index]; other !== undefined && other.from < to; other = others[index]) {
      if (other.to > from) {
        yield { from: Math.max(from, other.from), to: Math.min(to, other.to), value };
      }
      if (other.to > to) {
        break;
      }
      index += 1;
    }
  }
}
