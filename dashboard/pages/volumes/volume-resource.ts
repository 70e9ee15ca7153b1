import type { CallOptions } from "@connectrpc/connect";
import type { Signal } from "@preact/signals";
import { describeError } from "../../../client/describe-error.ts";
import { Role } from "../../../gen/hostplane/v1/user_pb.ts";
import { LVService } from "../../../gen/proto/lvmd_pb.ts";
import { type Reading, useRead } from "../../live/use-read.ts";
import { client, hasRole } from "../../session.ts";

/**
 * The resource of a volume, "volumeGroups/vg0/volumes/data", whether it exists or not. Calls address volumes by device class, and
 * no read returns a volume's group. The plan of a removal does, or the error that rejects it. A plan changes nothing, but viewers
 * may not request it: undefined for them.
 */
export function useVolumeResource(deviceClass: string, name: string): Signal<Reading<string | undefined>> {
  const { reading } = useRead(
    async (options) => (hasRole(Role.OPERATOR) ? readVolumeResource(deviceClass, name, options) : undefined),
    { key: `${deviceClass}/${name}` },
  );
  return reading;
}

async function readVolumeResource(deviceClass: string, name: string, options: CallOptions): Promise<string> {
  try {
    return (await client.plan(LVService.method.removeLV, { name, deviceClass }, options)).resource;
  } catch (error) {
    const resource = describeError(error).metadata.resource;
    if (resource?.endsWith(`/volumes/${name}`)) {
      return resource;
    }
    throw error;
  }
}
