import { test } from "tap";
import { createWorkloadSandbox } from "../../../adapters/workload/sandbox.ts";
import { clusterRecipe, createMachinePark } from "./machine-park.ts";

test("machines form a cluster according to their user data", async (t) => {
  const park = createMachinePark();
  const sandbox = await createWorkloadSandbox({ machines: park.machines, joinMs: 0 });
  t.teardown(() => sandbox.close());
  const recipe = await clusterRecipe("prod", { host: "10.20.0.200", port: 6443 });
  const first = park.install("node-1", recipe.init("node-1"));
  park.install("node-2", recipe.joinControlPlane("node-2"));
  park.install("node-3", recipe.joinControlPlane("node-3"));
  park.install("node-4", recipe.joinWorker("node-4"));
  const cluster = sandbox.connect(recipe.access);
  t.equal(await cluster.version(), "1.35.4");
  const nodes = await cluster.nodes();
  t.same(sandbox.fake.refusals, []);
  t.match(
    nodes.map(({ name }) => name),
    ["node-1", "node-2", "node-3", "node-4"],
  );
  t.match(nodes[3], {
    isReady: true,
    readyReason: "KubeletReady",
    kubeletVersion: "1.35.4",
    isCordoned: false,
    addresses: ["10.20.0.14"],
  });
  t.equal(nodes[3]?.labels.get("node-pool"), "blue");
  await cluster.removeEtcdMember("node-1", await recipe.etcdAccess([first.address, "10.20.0.12"]));
  t.same(
    sandbox.fake.cluster("prod")?.members.map(({ name }) => name),
    ["node-2", "node-3"],
  );
  await cluster.deleteNode("node-1");
  park.release("node-1");
  t.equal((await cluster.nodes()).length, 3);
});
