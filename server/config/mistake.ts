import type { z } from "zod";

/** One mistake in the configuration. */
export interface Mistake {
  /** `file:line:column`, an environment variable or a flag. */
  readonly where: string;
  /** The key, e.g. `listen[0].address`; empty if the mistake does not concern one key. */
  readonly key: string;
  /** What was found and what was expected. */
  readonly message: string;
}

/** Formats one line for people: `hostplane.yaml:3:5: limits.tools: found "many", expected a whole number`. */
export function formatMistake({ where, key, message }: Mistake): string {
  return [where, key, message].filter((part) => part !== "").join(": ");
}

/** Formats a path as in the file: `listen[0].address`. */
export function formatKeyPath(path: readonly PropertyKey[]): string {
  return path
    .map((name, at) => (typeof name === "number" ? `[${name}]` : `${at ? "." : ""}${String(name)}`))
    .join("");
}

/** Formats a value of the configuration for a message: short, with "8" distinct from 8, and without the password of a URL. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined) {
    return "nothing";
  }
  if (Array.isArray(value)) {
    return `a list of ${value.length}`;
  }
  if (typeof value === "object") {
    return "a group of keys";
  }
  const text = withoutPassword(typeof value === "string" ? JSON.stringify(value) : String(value));
  return text.length > 80 ? `${text.slice(0, 76)}...` : text;
}

/** Removes everything between `://` and `@` from `text`: the name and password of a URL. */
export function withoutPassword(text: string): string {
  return text.replaceAll(/:\/\/.*@/gs, "://...@");
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "a group of keys",
};

/** Returns what an issue of the schema expected, for issues without a message of their own. */
export function expectationOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${typeNames[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `expected one of ${issue.values.join(", ")}`;
    case "too_small":
      return `expected ${issue.origin === "array" || issue.origin === "string" ? "a length of " : ""}at least ${issue.minimum}`;
    case "too_big":
      return `expected ${issue.origin === "array" || issue.origin === "string" ? "a length of " : ""}at most ${issue.maximum}`;
    default:
      return "expected a different value";
  }
}
