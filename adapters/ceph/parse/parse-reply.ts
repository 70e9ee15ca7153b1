import type { z } from "zod";
import { InfraError } from "../../host/infra-error.ts";
import { cephReasons } from "../reasons.ts";

/**
 * Parses the JSON output of a command. Keys that are not in the schema are ignored, so that newer releases may add
 * some.
 * @throws InfraError CEPH_FAILED that names the invalid element
 */
export function parseReply<T>(command: string, schema: z.ZodType<T>, text: string): T {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new InfraError(cephReasons.CEPH_FAILED, `ceph ${command}: the reply is not JSON`, { cause });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) {
    return parsed.data;
  }
  const [issue] = parsed.error.issues;
  const place = issue?.path.join(".") ?? "";
  throw new InfraError(
    cephReasons.CEPH_FAILED,
    `ceph ${command}: ${place}: ${issue?.message ?? "is invalid"}`,
  );
}
