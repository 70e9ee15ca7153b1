import { InvalidArgumentError } from "commander";

/** Reads the number of an option that says how many. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!(Number.isSafeInteger(count) && count >= 1)) {
    throw new InvalidArgumentError("expected a whole number above 0");
  }
  return count;
}
