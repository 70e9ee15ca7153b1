import { createDeferredMaas } from "../../../../adapters/maas/deferred-maas.ts";
import type { FakeRegion } from "../../../../adapters/maas/fake/region.ts";
import { createDeferredWorkload } from "../../../../adapters/workload/deferred-workload.ts";
import type { BootedMachine } from "../../../../adapters/workload/fake/boot.ts";
import type { DemoWorld } from "../../../domain/demo-world.ts";
import { addressesFrom } from "../addresses/address-list.ts";
import type { ClusterSettings } from "../specs/cluster-settings.ts";
import { type ClusterSystem, clusterSystem } from "./system.ts";

const minuteMs = 60_000;

/** Settings of the sandbox's clusters: each has its own address, and machines take seconds. */
const sandboxSettings: ClusterSettings = {
  endpoints: addressesFrom("10.20.0.220-10.20.0.250") ?? [],
  // The sandbox's addresses may belong to real hosts; a name under .invalid never resolves.
  kubeconfigHost: (name) => `${name}.sandbox.invalid`,
  kubeVipImage: "sandbox.invalid/kube-vip:v1",
  cni: { manifest: "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: sandbox-network\n" },
  network: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
  imageRepository: undefined,
  machines: {},
  deployTimeoutMs: 2 * minuteMs,
  joinTimeoutMs: minuteMs,
  drainTimeoutMs: minuteMs / 2,
  pollMs: 300,
  watchMs: 5_000,
  sweepMs: 5 * minuteMs,
  // No machine was allocated before the start, so nothing needs a first sweep; a sweep would only create this MAAS early.
  firstSweepMs: 5 * minuteMs,
  leaseMs: 30_000,
};

/**
 * Creates an in-memory MAAS with machines, and the clusters made of them. They touch nothing of the host, and are created on
 * first use.
 */
export function openSandboxClusters(world?: DemoWorld): ClusterSystem {
  const clock = world?.clock;
  let region: FakeRegion | undefined;
  const as = { kind: "sandbox", url: "http://sandbox.invalid/MAAS" } as const;
  const maas = createDeferredMaas(as, async () => {
    const { createMaasSandbox } = await import("../../../../adapters/maas/sandbox.ts");
    const sandbox = await createMaasSandbox({ clock });
    region = sandbox.fake.region;
    return sandbox;
  });
  const workload = createDeferredWorkload("sandbox", async () => {
    const { createWorkloadSandbox } = await import("../../../../adapters/workload/sandbox.ts");
    const machines = () => (region === undefined ? [] : bootedMachinesOf(region));
    return createWorkloadSandbox({ machines, clock });
  });
  return clusterSystem(maas, workload, sandboxSettings);
}

/** Returns the deployed machines of a MAAS that have user data to run. */
export function bootedMachinesOf(region: FakeRegion): BootedMachine[] {
  return region.machines().flatMap((machine) => {
    const { systemId, hostname, address, userData, series, status } = machine;
    const deployed = region.events(systemId).find(({ type }) => type === "Deployed");
    if (status !== "deployed" || address === undefined || userData === undefined || deployed === undefined) {
      return [];
    }
    const version = /k8s=([0-9.]+)/.exec(series)?.[1];
    return {
      systemId,
      hostname,
      address,
      userData: Buffer.from(userData, "base64").toString(),
      deployedAtMs: deployed.atMs,
      ...(version === undefined ? {} : { version }),
    };
  });
}
