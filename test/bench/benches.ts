import type { Bench } from "./bench.ts";
import { createGrpcEcho, createGrpcStream, createJsonEcho } from "./echo/echo.ts";
import { createFanOut } from "./fan-out/fan-out.ts";
import { createEventMerge } from "./fleet/event-merge.ts";
import { createFleetBenches } from "./fleet/fleet-benches.ts";
import { createColdStart } from "./footprint/cold-start.ts";
import { createIdleMemory } from "./footprint/idle-memory.ts";
import { createLvmCreate } from "./lvm/lvm-create.ts";
import { createLvmList, createLvmListWhileCreating } from "./lvm/lvm-list.ts";
import { fleetBenches } from "./many-clients/many-clients-benches.ts";
import { createSpawnBlock } from "./spawn-block/spawn-block.ts";
import { createClusterList } from "./systems/cluster-list.ts";
import { createClusterStats } from "./systems/cluster-stats.ts";
import { createLibvirtList } from "./systems/libvirt-list.ts";
import { createPodmanList } from "./systems/podman-list.ts";
import { createEventOfChange, createListAfterChange } from "./volume-change/volume-change.ts";
import { createGrpcVolumeList, createJsonVolumeList } from "./volume-list/volume-list.ts";

/** All benchmarks, in the order of docs/reference/benchmarks.md. */
export const benches: readonly Bench[] = [
  createGrpcEcho(),
  createJsonEcho(),
  createGrpcStream(),
  createGrpcVolumeList(),
  createJsonVolumeList(),
  createListAfterChange(),
  createEventOfChange(),
  createLvmList(),
  createLvmListWhileCreating(),
  createLvmCreate(),
  createSpawnBlock(),
  createColdStart(),
  createIdleMemory(),
  createFanOut(),
  ...fleetBenches.map(({ bench }) => bench),
  ...createFleetBenches(),
  createEventMerge(),
  createLibvirtList(),
  createClusterStats(),
  createPodmanList(),
  createClusterList(),
];
