import { InvalidArgumentError } from "commander";

/** Parses the value of an option that takes a count. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!(Number.isSafeInteger(count) && count >= 1)) {
    throw new InvalidArgumentError("expected a whole number above 0");
  }
  return count;
}
