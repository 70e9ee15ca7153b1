import type { PlanFact } from "./mutation.ts";

/** Returns facts of one resource, in the given order. Names are in lower camel case, with their unit. */
export function factsOf(
  resource: string,
  values: Readonly<Record<string, string | number | bigint | boolean>>,
): PlanFact[] {
  return Object.entries(values).map(([name, value]) => ({ resource, name, value: String(value) }));
}

/** Returns the value of a fact that holds as long as there is enough of something. */
export function atLeast(amount: bigint): string {
  return `at least ${amount}`;
}
