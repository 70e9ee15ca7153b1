import { setTimeout as delay } from "node:timers/promises";
import { test } from "tap";
import { startWorkloadFake } from "../../../adapters/workload/fake/server.ts";
import { createWorkload } from "../../../adapters/workload/workload.ts";
import { reasonOf } from "../host/reason-of.ts";
import { clusterRecipe, createMachinePark } from "./machine-park.ts";

// Unique to this process, since the ports are Kubernetes' own.
const net = `127.${180 + (process.pid % 64)}.${(process.pid >> 6) % 256}`;

test("an unmodified client reaches clusters at their own addresses", async (t) => {
  const park = createMachinePark();
  const fake = await startWorkloadFake({ machines: park.machines, joinMs: 0, listen: "own-addresses" });
  const workload = createWorkload();
  t.teardown(async () => {
    await workload.close();
    await fake.close();
  });
  const recipe = await clusterRecipe("prod", { host: `${net}.200`, port: 6443 });
  const cluster = workload.connect(recipe.access);
  t.equal(await reasonOf(cluster.nodes()), "WORKLOAD_UNAVAILABLE", "before it exists");
  park.install("cp-1", recipe.init("cp-1"), { address: `${net}.1` });
  park.install("cp-2", recipe.joinControlPlane("cp-2"), { address: `${net}.2` });
  park.install("cp-3", recipe.joinControlPlane("cp-3"), { address: `${net}.3` });
  const count = async () => (await cluster.nodes()).length;
  await until(async () => (await count()) === 3);
  const etcd = await recipe.etcdAccess([`${net}.1`, `${net}.2`]);
  await cluster.removeEtcdMember("cp-1", etcd);
  // Another machine takes over the endpoint.
  await until(async () => (await reasonOf(cluster.deleteNode("cp-1"))) === undefined);
  park.release("cp-1");
  await until(async () => (await count()) === 2);
  park.install("elsewhere", recipe.joinControlPlane("elsewhere"), { address: "192.0.2.1" });
  await until(async () => fake.refusals.length > 0);
  t.match(fake.refusals[0]?.why, /cannot listen at 192.0.2.1:(6443|2379)/);
});

/** Polls until the condition is true; failed checks are repeated. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo().catch(() => false))) {
    await delay(20);
  }
}
