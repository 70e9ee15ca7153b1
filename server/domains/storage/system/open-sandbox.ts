import { createCephSandbox } from "../../../../adapters/ceph/sandbox.ts";
import { sandboxCephHosts } from "../../../../adapters/ceph/sandbox-cluster.ts";
import { sandboxTrafficAt } from "../../../../adapters/ceph/sandbox-traffic.ts";
import { createKubernetesSandbox } from "../../../../adapters/kubernetes/sandbox.ts";
import { startSchedule } from "../../../../adapters/sandbox/schedule.ts";
import type { DemoWorld } from "../../../domain/demo-world.ts";
import { createOsdStory } from "./sandbox-world.ts";
import { type StorageSystem, storageSystem } from "./system.ts";

/** How often the demo world's cluster is read while something watches it: as often as a real one. */
const watchedMs = 2_000;

/** Creates a Ceph cluster and the Kubernetes cluster that runs it in memory. */
export function openSandboxStorage(world?: DemoWorld): StorageSystem {
  return world === undefined
    ? storageSystem(createCephSandbox(), createKubernetesSandbox())
    : openWorld(world);
}

function openWorld({ clock, random, sizes }: DemoWorld): StorageSystem {
  const { osds: osdCount } = sizes;
  const traffic = random.fork("traffic");
  const ceph = createCephSandbox({
    clock,
    osdCount,
    watchedMs,
    trafficAt: (nowMs) => sandboxTrafficAt(nowMs, traffic),
  });
  const kubernetes = createKubernetesSandbox({
    clock,
    rook: { hosts: sandboxCephHosts(osdCount), osdCount },
  });
  const system = storageSystem(ceph, kubernetes);
  const schedule = startSchedule({
    clock,
    random: random.fork("storage"),
    stories: [createOsdStory({ ceph, kubernetes, osdCount })],
  });
  return {
    ...system,
    async close() {
      schedule.close();
      await system.close();
    },
  };
}
