import { z } from "zod";
import { notUnderstood } from "../errors.ts";
import { nsFromRfc3339 } from "./parse-time.ts";

/**
 * Parses a reply by its schema. Numbers too large for an exact `number` become bigint.
 * @param what the request, for the message
 * @throws InfraError PODMAN_FAILED
 */
export function parseReply<T>(what: string, schema: z.ZodType<T>, text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text, exactly);
  } catch {
    throw notUnderstood(what, "it is not JSON");
  }
  const result = schema.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    throw notUnderstood(what, `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is invalid"}`);
  }
  return result.data;
}

// E.g. a `timeNano` of 1795218336649131876, which is more than 2^53.
function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  const isLarge = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "");
  return isLarge && source !== undefined ? BigInt(source) : value;
}

/** 64 hexadecimal digits; image ids may also have the prefix `sha256:`. */
export const idOf = z.string().transform((id, context) => {
  const bare = id.replace(/^sha256:/, "");
  if (!/^[0-9a-f]{64}$/.test(bare)) {
    context.addIssue({ code: "custom", message: "is not an id" });
  }
  return bare;
});

/** Nanoseconds since 1970, or undefined for "never". */
export const timeOf = z.string().transform(nsFromRfc3339);

/** Nanoseconds since 1970. */
export const someTimeOf = timeOf.transform((ns, context) => {
  if (ns === undefined) {
    context.addIssue({ code: "custom", message: "is not a time" });
    return z.NEVER;
  }
  return ns;
});

/** An object of strings, in the order of its keys; empty if null or missing. */
export const wordsOf = z
  .record(z.string(), z.string())
  .nullish()
  .transform((record) => new Map(Object.entries(record ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))));

/** A list. Podman writes `null` for some empty lists, and omits others. */
export function listOf<T extends z.ZodType>(member: T) {
  return z
    .array(member)
    .nullish()
    .transform((list) => list ?? []);
}
