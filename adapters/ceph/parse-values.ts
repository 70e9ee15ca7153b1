import { z } from "zod";

/** `2026-11-21T00:37:34.649391+0000`, also with `Z`, in milliseconds since 1970. What has not happened is `0.000000`. */
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

/** A whole number of things, from 0 on. */
export const count = z.number().int().nonnegative();

/**
 * A number of bytes. Beyond 2^53 JSON.parse rounds it, which does no harm: Ceph counts space in units of 4 KiB. Newer releases
 * write some of them with a fraction, and one that is free below 0 while a cluster is overfull.
 */
export const bytes = z.number().transform((value) => BigInt(Math.max(0, Math.trunc(value))));

/** A share of something, from 0 to 1 and sometimes a little more. */
export const ratio = z.number().nonnegative();
