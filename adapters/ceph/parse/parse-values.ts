import { z } from "zod";

/** Parses `2026-11-21T00:37:34.649391+0000`, also with `Z`, to milliseconds since 1970. `0.000000` stands for never. */
export const time = z.string().transform((text, context) => {
  if (/^0(\.0+)?$/.test(text)) {
    return undefined;
  }
  const atMs = Date.parse(text.replace(/([+-]\d\d)(\d\d)$/, "$1:$2"));
  if (/^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(atMs)) {
    return atMs;
  }
  context.addIssue({ code: "custom", message: "is not a time" });
  return z.NEVER;
});

/** A count, from 0 on. */
export const count = z.number().int().nonnegative();

/**
 * A number of bytes. JSON.parse rounds values beyond 2^53, which does no harm: Ceph counts space in units of 4 KiB.
 * Newer releases write some values with a fraction, and a negative free space while a cluster is overfull.
 */
export const bytes = z.number().transform((value) => BigInt(Math.max(0, Math.trunc(value))));

/** A ratio from 0 to 1, sometimes slightly above. */
export const ratio = z.number().nonnegative();
