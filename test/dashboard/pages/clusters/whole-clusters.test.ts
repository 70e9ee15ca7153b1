import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { wholeClusters } from "../../../../dashboard/pages/clusters/whole-clusters.ts";
import { WatchClustersResponseSchema } from "../../../../gen/hostplane/v1/cluster_pb.ts";

async function* reported(...messages: readonly MessageInitShape<typeof WatchClustersResponseSchema>[]) {
  for (const message of messages) {
    yield create(WatchClustersResponseSchema, message);
  }
}

test("changed clusters replace their previous state, and deleted ones are removed", async (t) => {
  const seen: string[][] = [];
  const messages = reported(
    { clusters: [{ name: "web" }, { name: "db", statusMessage: "made" }] },
    { clusters: [{ name: "db", statusMessage: "runs" }] },
    { clusters: [{ name: "ai" }], removed: ["web"] },
    // A cluster of the same name may be created again at once.
    { clusters: [{ name: "db", statusMessage: "again" }], removed: ["db"] },
  );
  for await (const clusters of wholeClusters(messages)) {
    seen.push(clusters.map(({ name, statusMessage }) => `${name} ${statusMessage}`.trim()));
  }
  t.same(seen, [
    ["db made", "web"],
    ["db runs", "web"],
    ["ai", "db runs"],
    ["ai", "db again"],
  ]);
});
