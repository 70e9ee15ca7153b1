import { InvalidArgumentError } from "commander";

/** Parses a time in any form that starts with the date. @throws InvalidArgumentError */
export function parseTime(text: string): Date {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) {
    throw new InvalidArgumentError("expected a time such as 2026-01-31T00:00:00Z");
  }
  return time;
}
