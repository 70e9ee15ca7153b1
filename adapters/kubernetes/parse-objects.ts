import { z } from "zod";
import type { Part } from "../host/part-of-state.ts";

/** An optional value; absent and null, which Go writes for empty values, become the default. */
export function orElse<T>(schema: z.ZodType<T>, otherwise: T): z.ZodType<T> {
  return schema.nullish().transform((value) => value ?? otherwise);
}

/** An optional value; absent and null become undefined. */
export function orUndefined<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

export const text = orElse(z.string(), "");
export const count = z.number().int().nonnegative();

/** `2026-11-21T00:37:34Z`, in milliseconds since 1970. */
const time = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value));

export const metadata = z.object({
  name: z.string().min(1),
  namespace: text,
  labels: orElse(z.record(z.string(), z.string()), {}),
  generation: orElse(count, 0),
  creationTimestamp: orUndefined(time),
  deletionTimestamp: orUndefined(z.string()),
  ownerReferences: orElse(z.array(z.object({ kind: z.string(), name: z.string() })), []),
});

const conditions = orElse(z.array(z.object({ type: z.string(), status: z.string(), reason: text })), []);

export const status = z.object({ conditions });

/** Returns a condition; undefined if there is none of this type. */
export function conditionOf(
  { conditions: all }: z.infer<typeof status>,
  type: string,
): { readonly isMet: boolean; readonly reason: string } | undefined {
  const found = all.find((condition) => condition.type === type);
  return found === undefined ? undefined : { isMet: found.status === "True", reason: found.reason };
}

const named = z.object({ metadata: z.object({ name: z.string() }) });

/**
 * Parses the objects of a kind, sorted by name; missing if one of them is invalid. Keys that are not in the schema are
 * ignored, so that newer releases may add some.
 * @param kind for messages, e.g. `CephBlockPool`
 */
export function parseObjects<T extends { readonly namespace?: string; readonly name: string }>(
  kind: string,
  part: Part<readonly unknown[]>,
  schema: z.ZodType<T>,
): Part<readonly T[]> {
  if ("missing" in part) {
    return part;
  }
  const parsed: T[] = [];
  for (const object of part.ok) {
    const result = parseOnce(object, schema);
    if (!result.success) {
      const name = named.safeParse(object).data?.metadata.name ?? "without a name";
      const [issue] = result.error.issues;
      return {
        missing: `The ${kind} ${name} is invalid: ${issue?.path.join(".")}: ${issue?.message}`,
      };
    }
    parsed.push(result.data);
  }
  return { ok: parsed.toSorted((a, b) => compare(placeOf(a), placeOf(b))) };
}

// Objects are never modified; a watch replaces them. So of thousands, only new ones are parsed.
const results = new WeakMap<z.ZodType, WeakMap<object, unknown>>();

function parseOnce<T>(object: unknown, schema: z.ZodType<T>): z.ZodSafeParseResult<T> {
  if (typeof object !== "object" || object === null) {
    return schema.safeParse(object);
  }
  const known = results.get(schema) ?? new WeakMap();
  results.set(schema, known);
  const result = (known.get(object) as z.ZodSafeParseResult<T> | undefined) ?? schema.safeParse(object);
  known.set(object, result);
  return result;
}

function placeOf({ namespace = "", name }: { readonly namespace?: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

function compare(a: string, b: string): number {
  if (a === b) {
    return 0;
  }
  return a < b ? -1 : 1;
}
