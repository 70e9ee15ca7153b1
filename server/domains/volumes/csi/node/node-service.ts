import { Node, NodeServiceCapability_RPC_Type as Rpc } from "../../../../../gen/csi/v1/csi_pb.ts";
import { handlersOf } from "../../../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../../../rpc/call/service-handlers.ts";
import type { NodeChanges } from "../csi-changes.ts";
import type { CsiParts } from "../csi-parts.ts";
import { hostSegments, type TopologyParts } from "../topology.ts";
import { readVolumeStats } from "./volume-stats.ts";

const capabilities: readonly Rpc[] = [
  Rpc.STAGE_UNSTAGE_VOLUME,
  Rpc.GET_VOLUME_STATS,
  Rpc.EXPAND_VOLUME,
  Rpc.VOLUME_CONDITION,
  Rpc.SINGLE_NODE_MULTI_WRITER,
];

/** Creates csi.v1.Node. @param topology of this host */
export function createNodeService(
  parts: CsiParts,
  changes: NodeChanges,
  topology: TopologyParts,
): ServiceRegistration {
  return registerService(Node, {
    ...handlersOf(changes),
    nodeGetVolumeStats: async (request, { signal }) =>
      readVolumeStats(parts, request, (await parts.lvm.readRecent(signal)).value),
    nodeGetCapabilities: async () => ({
      capabilities: capabilities.map((type) => ({ type: { case: "rpc", value: { type } } })),
    }),
    nodeGetInfo: async () => ({
      nodeId: topology.host,
      accessibleTopology: { segments: hostSegments(topology) },
    }),
  });
}
