import type { Bench } from "./bench.ts";
import { createClusterList } from "./cluster-list.ts";
import { createClusterStats } from "./cluster-stats.ts";
import { createColdStart } from "./cold-start.ts";
import { createGrpcEcho, createGrpcStream, createJsonEcho } from "./echo/echo.ts";
import { createFanOut } from "./fan-out/fan-out.ts";
import { createIdleMemory } from "./idle-memory.ts";
import { createLibvirtList } from "./libvirt-list.ts";
import { createLvmCreate } from "./lvm/lvm-create.ts";
import { createLvmList, createLvmListWhileCreating } from "./lvm/lvm-list.ts";
import { fleetBenches } from "./many-clients/many-clients-benches.ts";
import { createPodmanList } from "./podman-list.ts";
import { createSpawnBlock } from "./spawn-block.ts";
import { createGrpcVolumeList, createJsonVolumeList } from "./volume-list/volume-list.ts";

/** All benchmarks, in the order of docs/reference/benchmarks.md. */
export const benches: readonly Bench[] = [
  createGrpcEcho(),
  createJsonEcho(),
  createGrpcStream(),
  createGrpcVolumeList(),
  createJsonVolumeList(),
  createLvmList(),
  createLvmListWhileCreating(),
  createLvmCreate(),
  createSpawnBlock(),
  createColdStart(),
  createIdleMemory(),
  createFanOut(),
  ...fleetBenches.map(({ bench }) => bench),
  createLibvirtList(),
  createClusterStats(),
  createPodmanList(),
  createClusterList(),
];
