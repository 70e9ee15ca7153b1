import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { sandboxManifests } from "../../../../../adapters/kubernetes/sandbox-cluster.ts";
import { openRealStorage } from "../../../../../server/domains/storage/system/open-real.ts";
import { startFakeApiServer } from "../../../../adapters/kubernetes/fake-api-server.ts";
import { kubeconfigFor } from "../../../../adapters/kubernetes/kubeconfig.ts";
import { okOf } from "../../../../adapters/until-state.ts";

test("the configured Kubernetes cluster is used: its kubeconfig, context and namespace", async (t) => {
  const server = await startFakeApiServer(sandboxManifests(Date.now(), "elsewhere"), "elsewhere");
  t.teardown(() => server.stop());
  const kubeconfig = join(t.testdir(), "kubeconfig");
  writeFileSync(kubeconfig, kubeconfigFor(server));
  const storage = await openRealStorage({
    kubernetes: { kubeconfig, context: "test", namespace: "elsewhere" },
  });
  t.teardown(() => storage.close());
  t.equal(storage.ceph, undefined);
  const snapshot = await storage.kubernetes?.read();
  t.strictSame(
    snapshot && okOf(snapshot.value.cephClusters).map(({ namespace, name }) => [namespace, name]),
    [["elsewhere", "elsewhere"]],
  );
});
