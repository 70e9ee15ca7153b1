import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { Test } from "tap";
import type { FakeMachineOptions } from "../../../../../adapters/maas/fake/machine.ts";
import {
  createMaasSandbox,
  type MaasSandbox,
  type MaasSandboxOptions,
} from "../../../../../adapters/maas/sandbox.ts";
import type { BootedMachine } from "../../../../../adapters/workload/fake/boot.ts";
import { createWorkloadSandbox, type WorkloadSandbox } from "../../../../../adapters/workload/sandbox.ts";
import { masterKeysFromText } from "../../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../../server/crypto/seal.ts";
import { sealClusterSecrets } from "../../../../../server/domains/clusters/access/cluster-secrets.ts";
import { createBootstrapToken } from "../../../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import { createClusterPki } from "../../../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import {
  createReconciler,
  type Reconciler,
} from "../../../../../server/domains/clusters/reconcile/reconciler.ts";
import type { ReconcilerOptions } from "../../../../../server/domains/clusters/reconcile/reconciler-options.ts";
import { createClusterImages } from "../../../../../server/domains/clusters/specs/cluster-images.ts";
import type { ClusterSettings } from "../../../../../server/domains/clusters/specs/cluster-settings.ts";
import type { ClusterChange } from "../../../../../server/domains/clusters/store/changes.ts";
import type {
  ClusterRecord,
  PoolRecord,
  SlotRecord,
} from "../../../../../server/domains/clusters/store/records.ts";
import { bootedMachinesOf } from "../../../../../server/domains/clusters/system/open-sandbox.ts";
import type { Store } from "../../../../../server/store/store.ts";
import { openOwnStore } from "../../../store/own-store.ts";

export interface ClusterState {
  readonly cluster: ClusterRecord;
  readonly slots: readonly SlotRecord[];
}

export interface ClusterSpec {
  readonly controlPlane?: number;
  readonly pools?: Readonly<Record<string, number>>;
  readonly version?: string;
  /** The cluster has no endpoint. */
  readonly hasNoEndpoint?: boolean;
}

export interface TestOptions {
  /** Number of machines of type `standard`; 8 by default. */
  readonly machines?: number;
  readonly settings?: Partial<ClusterSettings>;
  readonly deployMs?: number;
  /** Further options of the MAAS sandbox. */
  readonly maas?: MaasSandboxOptions;
  /** How long a cluster may take to match its spec, on an idle machine; 30 s by default. */
  readonly patienceMs?: number;
}

const pollMs = 20;

/** A reconciler that stops at a boundary. */
export interface DoomedReconciler {
  /** The boundary at which it has stopped. */
  readonly stopped: Promise<string>;
  /** Continues what was in progress, as if no time had passed; resolves when that has ended. */
  thaw(): Promise<void>;
}

/** A MAAS with machines, the clusters running on them, and a store. */
export interface TestClusters {
  readonly store: Store;
  readonly maas: MaasSandbox;
  readonly workload: WorkloadSandbox;
  readonly settings: ClusterSettings;
  readonly logged: readonly string[];
  /** Starts a reconciler, which is closed when the test ends, unless it was closed before. */
  start(options?: Partial<ReconcilerOptions>): Reconciler;
  /**
   * Starts a reconciler that stops at a boundary like a process that is killed or frozen.
   * @param isLast whether to stop at this boundary
   */
  startDoomed(isLast: (point: string) => boolean, options?: Partial<ReconcilerOptions>): DoomedReconciler;
  create(name: string, expected?: ClusterSpec): Promise<void>;
  change(name: string, change: Omit<ClusterChange, "name" | "uid" | "generation">): Promise<void>;
  state(name: string): Promise<ClusterState | undefined>;
  until(name: string, matches: (state: ClusterState) => boolean): Promise<ClusterState>;
  untilRunning(name: string): Promise<ClusterState>;
  untilGone(name: string): Promise<void>;
  /** Lists inconsistencies between MAAS and the store: our machines without a slot, and slots without their machine. */
  differences(): Promise<readonly string[]>;
  setClockOffset(ms: number): void;
}

const minuteMs = 60_000;
const masterKeys = masterKeysFromText(Buffer.alloc(32, 9).toString("base64"), "test");
export const clusterSeal = createSeal(masterKeys, "cluster");

const quickSettings: ClusterSettings = {
  endpoints: Array.from({ length: 30 }, (_, index) => `10.20.0.${220 + index}`),
  kubeVipImage: "kube-vip:v1",
  cni: { manifest: "apiVersion: v1\nkind: List\nitems: []\n" },
  network: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
  imageRepository: undefined,
  machines: {},
  deployTimeoutMs: minuteMs,
  joinTimeoutMs: minuteMs,
  drainTimeoutMs: minuteMs,
  pollMs: 60,
  watchMs: 250,
  sweepMs: 60_000,
  firstSweepMs: 0,
  leaseMs: 20_000,
};

const idLetters = "34678abcdefghkmnpqrstwxy";

/** Returns machines named `node-1` and so on. */
function machinesOf(count: number): readonly FakeMachineOptions[] {
  return Array.from({ length: count }, (_, index) => ({
    systemId: `mmmm${idLetters[Math.floor(index / idLetters.length)]}${idLetters[index % idLetters.length]}`,
    hostname: `node-${index + 1}`,
    tags: ["standard"],
  }));
}

export async function createTestClusters(t: Test, options: TestOptions = {}): Promise<TestClusters> {
  const store = await openOwnStore(t);
  const { patienceMs = 30_000 } = options;
  // Counted, because a busy machine slows the polls down as it does the reconciler, which runs in the same process.
  const maxPolls = patienceMs / pollMs;
  const settings = { ...quickSettings, ...options.settings };
  const logged: string[] = [];
  const log = {
    info: (message: string) => void logged.push(message),
    warn(message: string, cause?: unknown) {
      logged.push(cause instanceof Error ? `${message}: ${cause.stack}` : message);
    },
  };
  const maas = await createMaasSandbox({
    machines: machinesOf(options.machines ?? 8),
    deployMs: options.deployMs ?? 40,
    releaseMs: 30,
    eraseMs: 30,
    readPatienceMs: 3_000,
    changePatienceMs: 3_000,
    ...options.maas,
  });
  // In this process's time, since MAAS's clock may be wrong.
  const seenAtMs = new Map<string, number>();
  const machines = (): BootedMachine[] =>
    bootedMachinesOf(maas.fake.region).map((machine) => {
      const installation = `${machine.systemId} ${machine.deployedAtMs}`;
      const deployedAtMs = seenAtMs.get(installation) ?? Date.now();
      seenAtMs.set(installation, deployedAtMs);
      return { ...machine, deployedAtMs };
    });
  const workload = await createWorkloadSandbox({ machines, joinMs: 30 });
  const reconcilers = new Set<Reconciler>();
  t.teardown(async () => {
    await Promise.all([...reconcilers].map((each) => each.close()));
    await workload.close();
    await maas.close();
  });

  async function state(name: string): Promise<ClusterState | undefined> {
    return store.run("clusters.get", { name });
  }

  async function until(name: string, matches: (state: ClusterState) => boolean): Promise<ClusterState> {
    for (let polls = 0; ; polls += 1) {
      const now = await state(name);
      if (now !== undefined && matches(now)) {
        return now;
      }
      if (polls > maxPolls) {
        const slots = now?.slots.map(
          ({ state: at, hostname, message, reason, attempts }) =>
            `${at} ${hostname} ${reason} ${attempts} ${message}`,
        );
        throw new Error(
          `not in time: ${now?.cluster.status} ${now?.cluster.message}\n${slots?.join("\n")}\n${logged.slice(-10).join("\n")}`,
        );
      }
      await wait(pollMs);
    }
  }

  function optionsNow(): ReconcilerOptions {
    const images = createClusterImages(maas);
    return { store, maas, workload, images, seal: clusterSeal, settings, instanceId: randomUUID(), log };
  }

  return {
    store,
    maas,
    workload,
    settings,
    logged,
    start(more = {}) {
      const reconciler = createReconciler({ ...optionsNow(), ...more });
      reconcilers.add(reconciler);
      reconciler.begin();
      return {
        ...reconciler,
        close() {
          reconcilers.delete(reconciler);
          return reconciler.close();
        },
      };
    },
    startDoomed(isLast, more = {}) {
      const stopped = Promise.withResolvers<string>();
      const thawed = Promise.withResolvers<void>();
      let isStopped = false;
      async function boundary(point: string): Promise<void> {
        if (!isStopped && isLast(point)) {
          isStopped = true;
          stopped.resolve(point);
        }
        await (isStopped ? thawed.promise : undefined);
      }
      const run: Store["run"] = async (name, args) => {
        await (isStopped ? thawed.promise : undefined);
        const answer: unknown = await store.run(name, args);
        await (isStopped ? thawed.promise : undefined);
        return answer as never;
      };
      const reconciler = createReconciler({
        ...optionsNow(),
        store: { isShared: true, run, subscribe: store.subscribe },
        boundary,
        ...more,
      });
      reconciler.begin();
      const doomed = { ...reconciler, close: () => (isStopped ? Promise.resolve() : reconciler.close()) };
      reconcilers.add(doomed);
      return {
        stopped: stopped.promise,
        thaw() {
          reconcilers.delete(doomed);
          thawed.resolve();
          return reconciler.close();
        },
      };
    },
    async create(name, { controlPlane = 1, pools = {}, version = "1.35.4", hasNoEndpoint = false } = {}) {
      const uid = randomUUID();
      const pki = await createClusterPki(Date.now());
      const secrets = { pki, firstToken: createBootstrapToken(Date.now(), 4 * 60 * minuteMs) };
      const machinesOfType = (count: number) => ({ instanceType: "standard", labels: [], count });
      const created = await store.run("clusters.create", {
        cluster: {
          name,
          uid,
          backend: maas.url,
          k8sVersion: version,
          controlPlaneVersion: version,
          controlPlane: machinesOfType(controlPlane),
          pools: Object.entries(pools).map(
            ([pool, count]): PoolRecord => ({ name: pool, ...machinesOfType(count) }),
          ),
          secretsSealed: sealClusterSecrets(clusterSeal, uid, secrets),
          actor: "user/test",
        },
        endpoints: hasNoEndpoint ? [] : settings.endpoints,
      });
      if (!created.ok) {
        throw new Error(created.why);
      }
    },
    async change(name, change) {
      for (;;) {
        const now = await state(name);
        if (now === undefined) {
          throw new Error(`cluster ${name} not found`);
        }
        const { uid, generation } = now.cluster;
        if ((await store.run("clusters.change", { ...change, name, uid, generation })).ok) {
          return;
        }
      }
    },
    state,
    until,
    untilRunning: (name) =>
      until(
        name,
        ({ cluster }) => cluster.status === "running" && cluster.settledGeneration === cluster.generation,
      ),
    async untilGone(name) {
      let polls = 0;
      for (let now = await state(name); now !== undefined; now = await state(name)) {
        polls += 1;
        if (polls > maxPolls) {
          throw new Error(
            `not gone in time: ${now.cluster.message} ${JSON.stringify(now.slots)} ${logged.join("\n")}`,
          );
        }
        await wait(pollMs);
      }
    },
    async differences() {
      const states = await store.run("clusters.states", {});
      const slots = states.flatMap((each) => each.slots);
      const ours = maas.fake.region.machines().filter(({ owner }) => owner === "sandbox");
      const held = new Map(slots.map((slot) => [slot.systemId, slot]));
      return [
        ...ours
          .filter(({ systemId }) => !held.has(systemId))
          .map(({ hostname }) => `${hostname} has no owner`),
        ...slots
          .filter(
            ({ systemId }) => systemId !== undefined && !ours.some((each) => each.systemId === systemId),
          )
          .map(({ hostname }) => `${hostname} is not ours`),
        ...(held.size === slots.length ? [] : ["two slots have one machine, or none"]),
      ];
    },
    setClockOffset: maas.fake.setClockOffset,
  };
}
