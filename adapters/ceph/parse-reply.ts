import type { z } from "zod";
import { InfraError } from "../host/infra-error.ts";

/**
 * Reads the JSON that a command answered. Keys that the schema does not have are ignored, so that newer releases may add some.
 * @throws InfraError CEPH_FAILED that names the place at fault
 */
export function parseReply<T>(command: string, schema: z.ZodType<T>, text: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new InfraError("CEPH_FAILED", `ceph ${command}: the answer is not JSON`, { cause });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) {
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw new InfraError("CEPH_FAILED", `ceph ${command}: ${place}: ${issue?.message ?? "is not understood"}`);
}
