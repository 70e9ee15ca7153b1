import { z } from "zod";
import { type DeviceNumber, isSameDevice } from "../host/device-number.ts";
import { InfraError } from "../host/infra-error.ts";
import { parseMountInfo } from "../host/parse-mount-info.ts";
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

/** Returns the mount points of a device according to proc(5)'s mountinfo. */
export function mountsOf(mountInfo: string, device: DeviceNumber & { readonly node: string }): string[] {
  return parseMountInfo(mountInfo)
    .filter(
      // File systems such as btrfs have a device number of their own.
      ({ device: mounted, source }) => isSameDevice(mounted, device) || source === device.node,
    )
    .map(({ path }) => path);
}
