import type { z } from "zod";
import { InfraError } from "../../adapters/host/infra-error.ts";

/**
 * Adds an issue at the row's `key` for each row that repeats an earlier row's `identityOf`. Rows without an identity (undefined)
 * are not compared.
 */
export function assertUnique<Row>(
  rows: readonly Row[],
  context: z.RefinementCtx,
  key: string,
  identityOf: (row: Row) => string | undefined,
): void {
  const firstIndexes = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const value = identityOf(row);
    if (value === undefined) {
      continue;
    }
    const first = firstIndexes.get(value);
    if (first === undefined) {
      firstIndexes.set(value, index);
    } else {
      context.addIssue({
        code: "custom",
        path: [index, key],
        message: `expected a unique value; entry ${first + 1} of the list has the same (${value})`,
      });
    }
  }
}

/** Adds an issue unless exactly one row is the default. */
export function assertOneDefault(rows: readonly { default: boolean }[], context: z.RefinementCtx): void {
  const defaults = rows.flatMap((row, index) => (row.default ? [index] : []));
  if (defaults.length === 0) {
    context.addIssue({ code: "custom", message: "expected one of them with default: true" });
  }
  for (const index of defaults.slice(1)) {
    context.addIssue({
      code: "custom",
      path: [index, "default"],
      message: "expected only one entry with default: true",
    });
  }
}

/** Adds an issue with the message of an adapter's own rule for `what`, which `assertion` checks. */
export function assertByAdapter(
  assertion: () => void,
  context: z.RefinementCtx,
  what: string,
  path: readonly string[] = [],
): void {
  try {
    assertion();
  } catch (error) {
    if (!(error instanceof InfraError)) {
      throw error;
    }
    const [{ description } = { description: error.message }] = error.violations;
    context.addIssue({ code: "custom", path: [...path], message: `expected ${what}: ${description}` });
  }
}
