import { randomBytes, randomInt } from "node:crypto";
import type { Test } from "tap";
import type { FakeMachine, FakeMachineOptions, MachineChange } from "../../adapters/maas/fake/machine.ts";
import type { FakeImage } from "../../adapters/maas/fake/region.ts";
import { type MaasFake, startMaasFake } from "../../adapters/maas/fake/server.ts";
import type { BootedMachine } from "../../adapters/workload/fake/boot.ts";
import { startWorkloadFake, type WorkloadFake } from "../../adapters/workload/fake/server.ts";
import { bootedMachinesOf } from "../../server/cluster-systems.ts";
import { nodeFailurePrefix } from "../../server/domains/clusters/bootstrap/node-script.ts";

/** A machine of MAAS that has become another. */
export interface WorldChange {
  readonly atMs: number;
  /** `world`: it came about by itself. */
  readonly by: "gateway" | "admin" | "world";
  readonly kind: MachineChange["kind"];
  readonly before: FakeMachine;
  readonly after: FakeMachine;
}

/** A MAAS with machines and the clusters that these become, on loopback, for gateways in processes of their own. */
export interface ClustersWorld {
  readonly maas: MaasFake;
  readonly workload: WorkloadFake;
  /** As MAAS shows it, `consumer:token:secret`. */
  readonly apiKey: string;
  /** The account that gateways have. */
  readonly account: string;
  /** As `127.5.6.202-127.5.6.239`: what MAAS does not give out by itself. */
  readonly endpointAddresses: string;
  /** All there were, oldest first. */
  readonly changes: readonly WorldChange[];
  /** Does what an administrator of MAAS would; false when MAAS refuses. */
  administer(systemId: string, change: MachineChange): boolean;
  /** Has so many machines more of type `gpu`. */
  addGpus(count: number): void;
  /** Has MAAS's clock be so far from ours. */
  setClockOffset(offsetMs: number): void;
}

export interface WorldOptions {
  /** How many there are of type `standard`, and of type `gpu`; together at most 200. */
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
  // Tests that run at the same time have addresses of their own.
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
    // Machines get addresses of the range, clusters those behind it.
    isManaged: false,
    ranges: [{ type: "reserved", first: 2, last: 201 }],
    onChange(before, { kind }, after) {
      const by = isAdmin ? "admin" : asked.has(kind) ? "gateway" : "world";
      changes.push({ atMs: Date.now(), by, kind, before, after });
    },
  });
  const workload = await startWorkloadFake({
    machines: installedMachines(maas),
    listen: "own-addresses",
    joinMs: 150,
    patienceMs: 5_000,
    // The node script of a real machine reports its failure through cloud-init.
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
      // What came about meanwhile was not the administrator.
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
        // What machines are in the middle of goes by another clock.
        for (const { systemId } of maas.region.machines()) {
          maas.region.finish(systemId);
        }
        maas.setClockOffset(offsetMs);
      }
    },
  };
}

/** What is asked for by requests. */
const asked: ReadonlySet<MachineChange["kind"]> = new Set([
  "allocate",
  "annotate",
  "deploy",
  "release",
  "abort",
  "lock",
  "unlock",
  "markBroken",
]);

const lookAgainMs = 25;

/** Those that are installed, by our clock whatever MAAS's is; looked at no more often than it changes anything. */
function installedMachines({ region }: MaasFake): () => readonly BootedMachine[] {
  const known = new Map<string, BootedMachine>();
  let seen: readonly BootedMachine[] = [];
  let seenAtMs = 0;
  return () => {
    const nowMs = performance.now();
    if (nowMs - seenAtMs > lookAgainMs) {
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
