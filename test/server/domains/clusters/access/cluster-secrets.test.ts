import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { test } from "tap";
import { Cluster } from "../../../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../../../gen/hostplane/v1/cluster_pb.ts";
import { openClusterSecrets } from "../../../../../server/domains/clusters/access/cluster-secrets.ts";
import { errorOf } from "../../../../adapters/maas/maas-under-test.ts";
import { newSlot, startClusters } from "../clusters-under-test.ts";

const { getCluster, getClusterNodesStatus } = Cluster.method;
const { getKubeconfig, rotateKubeconfig } = ClusterService.method;

test("every call that needs unreadable secrets reports them, and none quotes them", async (t) => {
  const { call, createCluster, writeSlots, store, seal } = await startClusters(t);
  await createCluster("prod");
  const [slot] = await writeSlots([newSlot("cp-1")], { uid: "cp-1", from: "wanted", state: "joined" });
  t.equal(slot?.state, "joined");
  const uid = (await store.run("clusters.get", { name: "prod" }))?.cluster.uid ?? "";
  const sealed = [
    seal.seal(Buffer.from("{}"), randomUUID()),
    seal.seal(Buffer.from('{"pki": "hidden-secret'), uid),
  ];
  for (const secretsSealed of sealed) {
    const { secretsVersion = 0 } = (await store.run("clusters.secrets", { name: "prod" })) ?? {};
    await store.run("clusters.setSecrets", { name: "prod", uid, secretsVersion, secretsSealed });
    const calls = [
      async () => openClusterSecrets(seal, uid, secretsSealed),
      () => call(getCluster, { name: "prod" }),
      () => call(getKubeconfig, { cluster: "prod" }),
      () => call(rotateKubeconfig, { cluster: "prod" }),
    ];
    for (const each of calls) {
      const error = await errorOf(each());
      t.match(error, { reason: "MASTER_KEY_MISMATCH", message: /master key$/ });
      t.notMatch(inspect(error, { depth: 10, showHidden: true }), /hidden-secret/);
    }
    const { machines } = await call(getClusterNodesStatus, { clusterName: "prod" });
    t.match(machines, [
      { k8sNodeStatus: "Unknown: cannot decrypt the cluster's secrets with the gateway's master key" },
    ]);
  }
});
