import { randomBytes, randomInt } from "node:crypto";
import type { Test } from "tap";
import type { MachineChange } from "../../../adapters/maas/fake/changed-machine.ts";
import type { FakeMachine, FakeMachineOptions } from "../../../adapters/maas/fake/machine.ts";
import type { FakeImage } from "../../../adapters/maas/fake/region.ts";
import { type MaasFake, startMaasFake } from "../../../adapters/maas/fake/server.ts";
import type { BootedMachine } from "../../../adapters/workload/fake/boot.ts";
import { startWorkloadFake, type WorkloadFake } from "../../../adapters/workload/fake/server.ts";
import { nodeFailurePrefix } from "../../../server/domains/clusters/bootstrap/node-script.ts";
import { bootedMachinesOf } from "../../../server/domains/clusters/system/open-sandbox.ts";

/** A change of a MAAS machine. */
export interface WorldChange {
  readonly atMs: number;
  /** `world` for changes that happened by themselves. */
  readonly by: "gateway" | "admin" | "world";
  readonly kind: MachineChange["kind"];
  readonly before: FakeMachine;
  readonly after: FakeMachine;
}

/** A fake MAAS with machines, and the clusters that they form, on loopback, for gateways in separate processes. */
export interface ClustersWorld {
  readonly maas: MaasFake;
  readonly workload: WorkloadFake;
  /** In the format of MAAS, `consumer:token:secret`. */
  readonly apiKey: string;
  /** The MAAS account of the gateways. */
  readonly account: string;
  /** e.g. `127.5.6.202-127.5.6.239`: addresses that MAAS does not assign by itself. */
  readonly endpointAddresses: string;
  /** All changes, oldest first. */
  readonly changes: readonly WorldChange[];
  /** Makes a change as an administrator of MAAS; returns false if MAAS refuses it. */
  administer(systemId: string, change: MachineChange): boolean;
  /** Adds machines of type `gpu`. */
  addGpus(count: number): void;
  /** Sets the difference between MAAS's clock and the local one. */
  setClockOffset(offsetMs: number): void;
}

export interface WorldOptions {
  /** Number of machines of type `standard`, and of type `gpu`; together at most 200. */
  readonly standard: number;
  readonly gpu: number;
}

export const kubernetesVersions: readonly string[] = ["1.34.8", "1.35.4", "1.36.3"];

const account = "kaas";
const idLetters = "34678abcdefghkmnpqrstwxy";
const images = kubernetesVersions.flatMap((version): FakeImage[] =>
  ["standard", "gpu"].map((type) => ({ name: `os=ubuntu-noble,k8s=${version},${type}`, type: "Uploaded" })),
);

function machinesOf(type: "standard" | "gpu", count: number): readonly FakeMachineOptions[] {
  return Array.from({ length: count }, (_, index) => ({
    systemId: [type.slice(0, 1).repeat(4), idLetters[Math.floor(index / 24)], idLetters[index % 24]].join(""),
    hostname: `${type}-${index + 1}`,
    tags: [type],
  }));
}

export async function startClustersWorld(t: Test, { standard, gpu }: WorldOptions): Promise<ClustersWorld> {
  // Tests that run in parallel need different addresses.
  const addressPrefix = `127.${randomInt(1, 255)}.${randomInt(0, 255)}`;
  const key = () => randomBytes(16).toString("hex");
  const apiKey = { consumer: key(), token: key(), secret: key() };
  const changes: WorldChange[] = [];
  let isAdmin = false;
  let clockOffsetMs = 0;

  const maas = await startMaasFake({
    users: [{ username: account, isAdmin: false, apiKey }],
    machines: [...machinesOf("standard", standard), ...machinesOf("gpu", gpu)],
    images,
    tags: ["standard", "gpu"],
    pools: ["default"],
    zones: ["default"],
    deployMs: 300,
    releaseMs: 150,
    eraseMs: 150,
    addressPrefix,
    // Machines get addresses in the range, clusters those above it.
    isManaged: false,
    ranges: [{ type: "reserved", first: 2, last: 201 }],
    onChange(before, { kind }, after) {
      const by = isAdmin ? "admin" : requested.has(kind) ? "gateway" : "world";
      changes.push({ atMs: Date.now(), by, kind, before, after });
    },
  });
  const workload = await startWorkloadFake({
    machines: installedMachines(maas),
    listen: "own-addresses",
    joinMs: 150,
    patienceMs: 5_000,
    // On a real machine, the node script reports its failure through cloud-init.
    onRefusal: ({ systemId, why }) =>
      maas.region.reportFailure(systemId, `'cloudinit' ${nodeFailurePrefix}${why}`),
  });
  t.teardown(async () => {
    await workload.close();
    await maas.close();
  });

  return {
    maas,
    workload,
    apiKey: `${apiKey.consumer}:${apiKey.token}:${apiKey.secret}`,
    account,
    endpointAddresses: `${addressPrefix}.202-${addressPrefix}.239`,
    changes,
    administer(systemId, change) {
      // Reading the machine applies changes that happened meanwhile, so that they are not attributed to the administrator.
      maas.region.machine(systemId);
      isAdmin = true;
      const changed = maas.region.change(systemId, change);
      isAdmin = false;
      return !("violation" in changed);
    },
    addGpus(count) {
      for (const machine of machinesOf("gpu", gpu + count).slice(gpu)) {
        maas.region.add(machine);
      }
    },
    setClockOffset(offsetMs) {
      if (offsetMs !== clockOffsetMs) {
        clockOffsetMs = offsetMs;
        // Running transitions were timed by the old clock, so they are finished first.
        for (const { systemId } of maas.region.machines()) {
          maas.region.finish(systemId);
        }
        maas.setClockOffset(offsetMs);
      }
    },
  };
}

/** Changes that are made by requests. */
const requested: ReadonlySet<MachineChange["kind"]> = new Set([
  "allocate",
  "annotate",
  "deploy",
  "release",
  "abort",
  "lock",
  "unlock",
  "markBroken",
]);

const pollMs = 25;

/**
 * Returns the installed machines, by the local clock whatever MAAS's clock is. Refreshed only as often as something can change.
 */
function installedMachines({ region }: MaasFake): () => readonly BootedMachine[] {
  const known = new Map<string, BootedMachine>();
  let seen: readonly BootedMachine[] = [];
  let seenAtMs = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs - seenAtMs > pollMs) {
      seenAtMs = nowMs;
      seen = bootedMachinesOf(region).map((machine) => {
        const key = `${machine.systemId} ${machine.deployedAtMs}`;
        const found = known.get(key) ?? { ...machine, deployedAtMs: Date.now() };
        known.set(key, found);
        return found;
      });
    }
    return seen;
  };
}
