import { z } from "zod";
import type { Part } from "../host/part-of-state.ts";

/** What may be absent or null, as Go writes what is empty. */
export function orElse<T>(schema: z.ZodType<T>, otherwise: T): z.ZodType<T> {
  return schema.nullish().transform((value) => value ?? otherwise);
}

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

/** Whether a condition is met; undefined when there is none of the type. */
export function conditionOf(
  { conditions: all }: z.infer<typeof status>,
  type: string,
): { readonly isMet: boolean; readonly reason: string } | undefined {
  const found = all.find((condition) => condition.type === type);
  return found === undefined ? undefined : { isMet: found.status === "True", reason: found.reason };
}

const named = z.object({ metadata: z.object({ name: z.string() }) });

/**
 * The objects of a kind by name, or which of them is not understood. Keys that the schema does not have are ignored, so that
 * newer releases may add some.
 * @param kind for people, as `CephBlockPool`
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
        missing: `The ${kind} ${name} is not understood: ${issue?.path.join(".")}: ${issue?.message}`,
      };
    }
    parsed.push(result.data);
  }
  return { ok: parsed.toSorted((a, b) => compare(placeOf(a), placeOf(b))) };
}

// An object never changes, a watch brings another in its place: so of thousands only what is new is read.
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
