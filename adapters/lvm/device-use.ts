import { z } from "zod";
import { InfraError } from "../host/infra-error.ts";
import { hostReasons } from "../host/reasons.ts";

const signatures = z.object({ signatures: z.array(z.object({ type: z.string() })) });

/**
 * Parses the JSON of `wipefs --no-act --json` into the distinct signature types found on a device; empty if there are
 * none.
 * @throws InfraError TOOL_OUTPUT
 */
export function parseSignatures(text: string): string[] {
  // util-linux before 2.39 prints nothing at all for a device without a signature.
  if (text.trim() === "") {
    return [];
  }
  try {
    const types = signatures.parse(JSON.parse(text)).signatures.map(({ type }) => type);
    return [...new Set(types)];
  } catch (cause) {
    throw new InfraError(hostReasons.TOOL_OUTPUT, "wipefs: the output cannot be parsed", { cause });
  }
}

/**
 * Returns the mount points of a device according to proc(5)'s mountinfo, where the third field is the device number and
 * the source comes after a hyphen.
 */
export function mountsOf(
  mountInfo: string,
  device: { readonly major: number; readonly minor: number; readonly node: string },
): string[] {
  return mountInfo.split("\n").flatMap((line) => {
    const fields = line.split(" ");
    const source = fields[fields.indexOf("-") + 2];
    // File systems such as btrfs have a device number of their own.
    const isOfDevice = fields[2] === `${device.major}:${device.minor}` || source === device.node;
    return isOfDevice && fields[4] !== undefined ? [fields[4]] : [];
  });
}
