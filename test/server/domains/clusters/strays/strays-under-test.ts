import { EventEmitter, on } from "node:events";
import type { Test } from "tap";
import type { MaasAdapter } from "../../../../../adapters/maas/adapter.ts";
import { createMaasSandbox, type MaasSandbox } from "../../../../../adapters/maas/sandbox.ts";
import type { Clocks } from "../../../../../server/domains/clusters/reconcile/clocks.ts";
import {
  agentNameOf,
  marksOf,
} from "../../../../../server/domains/clusters/reconcile/machines/machine-marks.ts";
import type { NewCluster } from "../../../../../server/domains/clusters/store/changes.ts";
import type { SlotChange, SlotRecord } from "../../../../../server/domains/clusters/store/records.ts";
import { createStrays, type Strays } from "../../../../../server/domains/clusters/strays/strays.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { openOwnStore } from "../../../store/own-store.ts";
import { newCluster, newSlot } from "../store/clusters-in-store.ts";

const kubernetesImage = "os=ubuntu-noble,k8s=1.35.4,standard";

export const never = new AbortController().signal;

/** Strays on a separate store and a MAAS in which nothing finishes by itself. */
export interface StraysUnderTest {
  readonly store: Store;
  readonly maas: MaasSandbox;
  readonly strays: Strays;
  /** Log messages, oldest first. */
  readonly log: readonly string[];
  /** Resolves when a matching line is logged. */
  nextLog(pattern: RegExp): Promise<void>;
  createCluster(name: string, changes?: Partial<NewCluster>): Promise<void>;
  /** Adds a slot to the cluster that is due, or changes slots. */
  addSlot(cluster: string, uid: string, pool?: string): Promise<void>;
  writeSlots(cluster: string, ...change: readonly SlotChange[]): Promise<readonly SlotRecord[]>;
  /** Allocates a free machine for a slot in the state `wanted`, as the reconciler does, up to a given state. */
  take(
    cluster: string,
    uid: string,
    until: "candidate" | "allocated" | "annotated" | "joined",
  ): Promise<string>;
  sweep(): Promise<void>;
}

export interface StraysUnderTestOptions {
  readonly store?: Store;
  readonly maas?: MaasSandbox;
  /** Wraps the MAAS that the strays use. */
  readonly aroundMaas?: (maas: MaasSandbox) => MaasAdapter;
  readonly sweepMs?: number;
  readonly clocks?: Clocks;
}

export async function startMaas(t: Test): Promise<MaasSandbox> {
  const forEver = Number.POSITIVE_INFINITY;
  const maas = await createMaasSandbox({ deployMs: forEver, releaseMs: forEver });
  t.teardown(() => maas.close());
  return maas;
}

export async function startStrays(t: Test, options: StraysUnderTestOptions = {}): Promise<StraysUnderTest> {
  const store = options.store ?? (await openOwnStore(t));
  const maas = options.maas ?? (await startMaas(t));
  const log: string[] = [];
  const lines = new EventEmitter();
  const write = (line: string) => {
    log.push(line);
    lines.emit("line", line);
  };
  const strays = createStrays({
    store,
    maas: options.aroundMaas?.(maas) ?? maas,
    settings: { firstSweepMs: 0, sweepMs: options.sweepMs ?? 60_000 },
    ...(options.clocks === undefined ? {} : { clocks: options.clocks }),
    log: {
      info: write,
      warn: (message, cause) => write(cause === undefined ? message : `${message}: ${cause}`),
    },
  });

  async function writePass(
    cluster: string,
    add: readonly string[],
    pool: string | undefined,
    change: readonly SlotChange[],
  ) {
    const { pass } = await store.run("clusters.claim", {
      instanceId: "gw",
      leaseMs: 60_000,
      backend: maas.url,
    });
    if (pass?.cluster.name !== cluster) {
      throw new Error(`cluster ${cluster} is not due`);
    }
    const fenced = { name: cluster, uid: pass.cluster.uid, owner: "gw", fence: pass.fence };
    const slots = add.map((uid) => newSlot(uid, { pool }));
    const written = await store.run("clusters.writeSlots", { fenced, add: slots, change });
    await store.run("clusters.settle", { fenced, status: "running", message: "", dueInMs: 0 });
    if (!written.ok) {
      throw new Error("the write was refused");
    }
    return written.slots;
  }

  const writeSlots: StraysUnderTest["writeSlots"] = (cluster, ...change) =>
    writePass(cluster, [], undefined, change);

  return {
    store,
    maas,
    strays,
    log,
    async nextLog(pattern) {
      // The wait itself does not keep the process alive.
      const awake = setInterval(() => {}, 1_000);
      for await (const [line] of on(lines, "line")) {
        if (pattern.test(line)) {
          clearInterval(awake);
          return;
        }
      }
    },
    async createCluster(name, changes) {
      const cluster = newCluster(name, { backend: maas.url, ...changes });
      await store.run("clusters.create", { cluster, endpoints: [] });
    },
    async addSlot(cluster, uid, pool) {
      await writePass(cluster, [uid], pool, []);
    },
    writeSlots,
    async take(cluster, uid, until) {
      const { systemId, hostname } = await maas.choose({});
      const { installationId } = await store.run("clusters.installation", {});
      const candidate = { state: "candidate", candidateId: systemId, takeSequence: true } as const;
      const slots = await writeSlots(cluster, { uid, from: "wanted", ...candidate });
      const slot = slots.find((each) => each.uid === uid);
      if (slot === undefined || until === "candidate") {
        return systemId;
      }
      await maas.allocate({ systemId, agentName: agentNameOf(installationId, uid) });
      await writeSlots(cluster, { uid, from: "candidate", state: "allocated", systemId, hostname });
      if (until === "allocated") {
        return systemId;
      }
      await maas.annotate(systemId, marksOf(installationId, slot));
      if (until === "joined") {
        await maas.deploy(systemId, { series: kubernetesImage });
        maas.fake.region.finish(systemId);
      }
      await writeSlots(cluster, { uid, from: "allocated", state: until });
      return systemId;
    },
    sweep: () => strays.sweep(never),
  };
}
