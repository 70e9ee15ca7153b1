import {
  PluginCapability_VolumeExpansion_Type as Expansion,
  Identity,
  PluginCapability_Service_Type as Service,
} from "../../../../gen/csi/v1/csi_pb.ts";
import { registerService, type ServiceRegistration } from "../../../rpc/call/service-handlers.ts";
import type { CsiParts } from "./csi-parts.ts";

/** Creates csi.v1.Identity. @param version version of the gateway, which is that of the driver */
export function createIdentityService(
  { lvm, mounts, settings }: CsiParts,
  version: string,
): ServiceRegistration {
  return registerService(Identity, {
    getPluginInfo: async () => ({ name: settings.driverName, vendorVersion: version }),
    getPluginCapabilities: async () => ({
      capabilities: [
        { type: { case: "service", value: { type: Service.CONTROLLER_SERVICE } } },
        { type: { case: "service", value: { type: Service.VOLUME_ACCESSIBILITY_CONSTRAINTS } } },
        { type: { case: "volumeExpansion", value: { type: Expansion.ONLINE } } },
      ],
    }),
    async probe(_request, { signal }) {
      await lvm.readRecent(signal);
      await mounts.mounts();
      return { ready: true };
    },
  });
}
