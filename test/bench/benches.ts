import type { Bench } from "./bench.ts";
import { createClusterList } from "./cluster-list.ts";
import { createClusterStats } from "./cluster-stats.ts";
import { createFanOut } from "./fan-out/fan-out.ts";
import { createLibvirtList } from "./libvirt-list.ts";
import { createPodmanList } from "./podman-list.ts";

/** All benches, in the order of docs/benchmarks.md. */
export const benches: readonly Bench[] = [
  createFanOut(),
  createLibvirtList(),
  createClusterStats(),
  createPodmanList(),
  createClusterList(),
];
