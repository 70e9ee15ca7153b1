import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { test } from "tap";
import { Controller, Node } from "../../../../../gen/csi/v1/csi_pb.ts";
import { PlanService } from "../../../../../gen/hostplane/v1/plan_pb.ts";
import { VolumeService } from "../../../../../gen/hostplane/v1/volume_pb.ts";
import { LVService } from "../../../../../gen/lvmd/served/lvmd_pb.ts";
import { startGatewayUnderTest } from "../../../harness/gateway-under-test.ts";
import { rpcErrorOf } from "../../../harness/rpc-error.ts";
import { blockCapability, mountCapability } from "../csi/csi-under-test.ts";

const stagingTargetPath = "/sandbox/csi/staging";

for (const [what, volumeCapability] of [
  ["a raw block device", blockCapability],
  ["a file system", mountCapability()],
] as const) {
  test(`a volume published as ${what} is not removed`, async (t) => {
    const { url } = await startGatewayUnderTest(t);
    const transport = createConnectTransport({ baseUrl: url, httpVersion: "2" });
    const volumes = createClient(VolumeService, transport);
    const lvmd = createClient(LVService, transport);
    const plans = createClient(PlanService, transport);
    const controller = createClient(Controller, transport);
    const node = createClient(Node, transport);
    const { volume } = await controller.createVolume({
      name: "raw",
      volumeCapabilities: [volumeCapability],
    });
    const volumeId = volume?.volumeId ?? "";
    const targetPath = "/sandbox/csi/pods/raw";
    const staged = { volumeId, stagingTargetPath, volumeCapability };
    await node.nodeStageVolume(staged);
    await node.nodePublishVolume({ ...staged, targetPath });

    for (const remove of [
      () => volumes.deleteVolume({ name: "raw" }),
      () => volumes.deleteVolume({ name: "raw", wipe: true }),
      () => lvmd.removeLV({ name: "raw" }),
      () =>
        plans.plan({ method: "proto.LVService/RemoveLV", request: { case: "json", value: { name: "raw" } } }),
      () => controller.deleteVolume({ volumeId }),
    ]) {
      t.match(await rpcErrorOf(remove()), {
        code: "FAILED_PRECONDITION",
        reason: "VOLUME_IN_USE",
        message: /sandbox-vg\/raw is mounted at \/sandbox\/csi\/(staging|pods\/raw)$/,
      });
    }

    await node.nodeUnpublishVolume({ volumeId, targetPath });
    await node.nodeUnstageVolume({ volumeId, stagingTargetPath });
    await lvmd.removeLV({ name: "raw" });
    t.match(await rpcErrorOf(volumes.getVolume({ name: "raw" })), { reason: "VOLUME_NOT_FOUND" });
  });
}
