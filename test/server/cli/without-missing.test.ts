import { test } from "tap";
import { withoutMissing } from "../../../server/cli/without-missing.ts";

test("a number that could not be read is removed, and a known one stays", async (t) => {
  const stats = { id: "a", data: { volumes: 0, pools: { pools: 0 } } };
  t.strictSame(withoutMissing(stats, ["crashes", "data.volumes", "data.objects.size", "id"]), {
    id: "a",
    data: { pools: { pools: 0 } },
  });
  t.strictSame(withoutMissing(stats, []), stats);
});

test("the same applies in lists, whether in the response or as the response", async (t) => {
  const answer = {
    resources: [
      { name: "a", replicas: 0 },
      { name: "b", replicas: 3 },
    ],
  };
  t.strictSame(withoutMissing(answer, ["resources.replicas", "resources.CephCluster", "deployments"]), {
    resources: [{ name: "a" }, { name: "b", replicas: 3 }],
  });
  const nodes = [{ name: "a", roles: [], internalIp: "" }];
  t.strictSame(withoutMissing(nodes, ["nodes.roles", "nodes.internal_ip", "nodes.age"]), [{ name: "a" }]);
});
