import { setTimeout as wait } from "node:timers/promises";
import type { Fault, FaultMatch } from "../../../adapters/maas/fake/faults.ts";
import type { FakeMachine } from "../../../adapters/maas/fake/machine.ts";
import type { Random } from "../random.ts";
import type { ClustersWorld } from "./clusters-world.ts";

/** Failures in MAAS. */
export interface ClustersTrouble {
  /** Number of failures of each kind. */
  readonly counts: ReadonlyMap<string, number>;
  /** Clusters whose control plane lost a machine to an administrator. */
  readonly robbed: ReadonlySet<string>;
  /** Removes a deleted cluster from `robbed`; a new one of the same name starts afresh. */
  forgive(name: string): void;
  /** Ends the failures and repairs what is broken. */
  end(): Promise<void>;
}

/** The longest delay of a response. A request may take effect this long after its gateway's death. */
export const longestDelayMs = 700;

const everyMs = 120;
const wrongClockMs = 2_000;

const words = (status: number, text: string, headers = {}): Fault => ({
  kind: "answer",
  answer: { status, text, headers: { "content-type": "text/plain; charset=utf-8", ...headers } },
});

const faults: Readonly<Record<string, (random: Random) => Fault>> = {
  "409 taken": () => words(409, "No machine with system ID ssss33 available."),
  "409 state": () => words(409, "Can't deploy a machine that is in the 'Deploying' state"),
  "409 conflict": () =>
    words(409, "Conflict error. Try your request again, as it will most likely succeed.", {
      "retry-after": "0",
    }),
  "503": () => words(503, "No rack controllers can access the BMC of node"),
  slow: (random) => ({ kind: "delay", ms: random.int(50, longestDelayMs) }),
  "lost reply": () => ({ kind: "loseReply" }),
  cut: () => ({ kind: "cut" }),
};

const changes: readonly FaultMatch[] = [
  ...["allocate", "set_workload_annotations", "deploy", "release", "mark_broken"].map((op) => ({
    method: "POST",
    path: "machines/",
    op,
  })),
  { method: "POST", path: "ipaddresses/" },
];
const reads: readonly FaultMatch[] = [{ method: "GET" }, { method: "GET", path: "machines/" }];

/** Starts causing random failures. */
export function makeTrouble(world: ClustersWorld, random: Random): ClustersTrouble {
  const { maas } = world;
  const counts = new Map<string, number>();
  const robbed = new Set<string>();
  const ending = new AbortController();
  // Only these ever fail to install, otherwise soon all machines would be broken. Most of the rare type do, so that some are used
  // repeatedly.
  const weak = maas.region.machines().filter(({ tags }) => random.happens(tags.includes("gpu") ? 0.7 : 0.12));

  function count(kind: string): void {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }

  function ours(matches: (machine: FakeMachine) => boolean): FakeMachine | undefined {
    const found = maas.region.machines().filter((each) => each.owner === world.account && matches(each));
    return found.length === 0 ? undefined : random.pick(found);
  }

  function administer(
    kind: string,
    machine: FakeMachine | undefined,
    change: Parameters<ClustersWorld["administer"]>[1],
  ): void {
    if (machine !== undefined && world.administer(machine.systemId, change)) {
      count(kind);
    }
  }

  function takeAway(): void {
    const machine = ours(({ status, isLocked, annotations }) => {
      const isWorker = annotations["hostplane-pool"] !== "control-plane";
      return (
        !isLocked &&
        ["allocated", "deploying", "deployed"].includes(status) &&
        (isWorker || random.happens(0.2))
      );
    });
    if (machine?.annotations["hostplane-pool"] === "control-plane") {
      robbed.add(machine.annotations["hostplane-cluster"] ?? "");
    }
    administer("released by an administrator", machine, { kind: "release", erase: random.happens(0.3) });
  }

  function isOnDisk({ status, isLocked }: FakeMachine): boolean {
    return !isLocked && (status === "deployed" || status === "deploying");
  }

  async function turnClock(): Promise<void> {
    count("clock");
    world.setClockOffset(random.pick([-400_000, 400_000]));
    await wait(wrongClockMs, undefined, { signal: ending.signal }).catch(() => {});
    world.setClockOffset(0);
  }

  async function makeSome(): Promise<void> {
    const kind = random.next();
    if (kind < 0.55) {
      const name = random.pick(Object.keys(faults));
      const match = random.pick(random.happens(0.7) ? changes : reads);
      maas.inject(match, faults[name]?.(random) ?? { kind: "cut" });
      count(name);
    } else if (kind < 0.67) {
      maas.region.failNext(random.pick(weak).systemId);
      count("failing installation");
    } else if (kind < 0.77) {
      const machine = ours(({ status }) => status === "deployed");
      if (machine !== undefined) {
        maas.region.failNext(machine.systemId);
        count("failing release");
      }
    } else if (kind < 0.82) {
      takeAway();
    } else if (kind < 0.89) {
      administer("locked", ours(isOnDisk), { kind: "lock" });
    } else if (kind < 0.99) {
      administer(
        "unlocked",
        ours(({ isLocked }) => isLocked),
        { kind: "unlock" },
      );
    } else {
      await turnClock();
    }
  }

  async function run(): Promise<void> {
    // The clock is changed at least once, independently of chance.
    let turns = 0;
    while (!ending.signal.aborted) {
      await wait(random.int(everyMs / 2, (everyMs * 3) / 2), undefined, { signal: ending.signal }).catch(
        () => {},
      );
      turns += 1;
      await (turns === 60 ? turnClock() : makeSome());
    }
  }

  const running = run();
  return {
    counts,
    robbed,
    forgive: (name) => void robbed.delete(name),
    async end() {
      ending.abort();
      await running;
      maas.clearFaults();
      for (const { systemId, isLocked } of maas.region.machines()) {
        if (isLocked) {
          world.administer(systemId, { kind: "unlock" });
        }
      }
    },
  };
}
