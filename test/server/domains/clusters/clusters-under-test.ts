import { randomBytes } from "node:crypto";
import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import type { Test } from "tap";
import type { MaasAdapter } from "../../../../adapters/maas/adapter.ts";
import { createMaasSandbox, type MaasSandbox } from "../../../../adapters/maas/sandbox.ts";
import type { WorkloadAccess, WorkloadCluster, WorkloadNode } from "../../../../adapters/workload/adapter.ts";
import { Cluster, type CreateClusterMsg } from "../../../../gen/cnct/kaas/api/api_pb.ts";
import { ClusterService } from "../../../../gen/hostplane/v1/cluster_pb.ts";
import { masterKeysFromText } from "../../../../server/crypto/master-keys.ts";
import { createSeal, type Seal } from "../../../../server/crypto/seal.ts";
import { plannersOf } from "../../../../server/domain/change.ts";
import { createClusterServiceChanges } from "../../../../server/domains/clusters/changes/cluster-service-changes.ts";
import { createKaasChanges } from "../../../../server/domains/clusters/changes/kaas-changes.ts";
import { createClusterService } from "../../../../server/domains/clusters/cluster-service.ts";
import { type Clusters, createClusters } from "../../../../server/domains/clusters/clusters.ts";
import type { ClusterOperations } from "../../../../server/domains/clusters/operations/cluster-operations.ts";
import { createKaasService } from "../../../../server/domains/clusters/service.ts";
import {
  type ClusterImages,
  offeredImagesFrom,
} from "../../../../server/domains/clusters/specs/cluster-images.ts";
import type { ClusterSettings } from "../../../../server/domains/clusters/specs/cluster-settings.ts";
import type { NewSlot, SlotChange, SlotRecord } from "../../../../server/domains/clusters/store/records.ts";
import type { StrayCalls } from "../../../../server/domains/clusters/strays/stray-calls.ts";
import type { PlannedMutation } from "../../../../server/operations/mutation.ts";
import type { AppliedPlan } from "../../../../server/rpc/call/applied-plan.ts";
import { anonymous } from "../../../../server/rpc/call/caller.ts";
import type { Store } from "../../../../server/store/store.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";

const { createCluster } = Cluster.method;

/** The calls about clusters, on a separate store and the sandbox's MAAS, without a reconciler. */
export interface ClustersUnderTest {
  readonly store: Store;
  readonly clusters: Clusters;
  readonly seal: Seal;
  call<M extends DescMethodUnary>(
    method: M,
    input: MessageInitShape<M["input"]>,
    appliedPlan?: AppliedPlan,
  ): Promise<MessageShape<M["output"]>>;
  plan<M extends DescMethodUnary>(method: M, input: MessageInitShape<M["input"]>): Promise<PlannedMutation>;
  /** Creates a cluster with three control-plane machines and a pool `work` of two. */
  createCluster(name: string, input?: Partial<Pick<CreateClusterMsg, "k8sVersion">>): Promise<void>;
  /** Adds and changes machines of the only cluster, as a reconciler does. */
  writeSlots(add: readonly NewSlot[], ...change: readonly SlotChange[]): Promise<readonly SlotRecord[]>;
  /** Settles the only cluster as running. */
  settle(message?: string): Promise<void>;
  /** Returns everything that the store knows about clusters, as text. */
  everything(): Promise<string>;
}

export interface ClustersUnderTestOptions {
  readonly maas?: Pick<MaasAdapter, "url" | "whoami" | "machines">;
  readonly images?: ClusterImages;
  readonly settings?: Partial<ClusterSettings>;
  readonly nodes?: (access: WorkloadAccess, signal: AbortSignal) => Promise<readonly WorkloadNode[]>;
  readonly strays?: StrayCalls;
  readonly store?: Store;
}

const settings: ClusterSettings = {
  endpoints: ["10.20.0.220", "10.20.0.221"],
  kubeVipImage: "sandbox.invalid/kube-vip:v1",
  cni: { path: "/etc/cni.yaml" },
  network: { podSubnet: "10.244.0.0/16", serviceSubnet: "10.96.0.0/12", dnsDomain: "cluster.local" },
  imageRepository: undefined,
  machines: {},
  deployTimeoutMs: 60_000,
  joinTimeoutMs: 60_000,
  drainTimeoutMs: 60_000,
  pollMs: 1_000,
  watchMs: 1_000,
  sweepMs: 1_000,
  firstSweepMs: 0,
  leaseMs: 30_000,
};

/** For tests that do not read machines from MAAS. */
export const noMaas: Pick<MaasAdapter, "url" | "whoami" | "machines"> = {
  url: "http://maas.invalid/MAAS",
  whoami: async () => ({ username: "gateway", isAdmin: false }),
  machines: async () => [],
};

/** Creates images. @param versions with an image for both types, or only for the given types */
export function imagesOf(
  ...versions: readonly (string | readonly [version: string, ...types: string[]])[]
): ClusterImages {
  const names = versions.flatMap((each) => {
    const [version, ...types] = typeof each === "string" ? [each, "standard", "gpu"] : each;
    return types.map((type) => `os=ubuntu-noble,k8s=${version},${type}`);
  });
  return { read: async () => offeredImagesFrom(names) };
}

export async function startMaasSandbox(t: Test): Promise<MaasSandbox> {
  const forEver = Number.POSITIVE_INFINITY;
  const maas = await createMaasSandbox({ deployMs: forEver, releaseMs: forEver });
  t.teardown(() => maas.close());
  return maas;
}

export function machineNode(name: string, changes: Partial<WorkloadNode> = {}): WorkloadNode {
  return {
    name,
    isReady: true,
    readyReason: "KubeletReady",
    readyMessage: "kubelet is posting ready status",
    kubeletVersion: "1.35.4",
    isCordoned: false,
    labels: new Map(),
    addresses: [],
    createdAtMs: 0,
    ...changes,
  };
}

const noStrays: StrayCalls = {
  list: async () => ({ strays: [], reportOnlyBecause: undefined }),
  adopt: notRequested,
  release: notRequested,
  plan: { adopt: notRequested, release: notRequested },
};

const noOperations: ClusterOperations = {
  created: async () => {},
  removed: async () => {},
  poolsAdded: async () => {},
  poolsRemoved: async () => {},
  poolsScaled: async () => {},
  upgraded: async () => {},
};

async function notRequested(): Promise<never> {
  throw new Error("this must not be called");
}

export async function startClusters(
  t: Test,
  options: ClustersUnderTestOptions = {},
): Promise<ClustersUnderTest> {
  const { maas = noMaas, images = imagesOf("1.34.8", "1.35.4", "1.36.3"), strays = noStrays } = options;
  const store = options.store ?? (await openOwnStore(t));
  const seal = createSeal(masterKeysFromText(randomBytes(32).toString("base64"), "the test"), "cluster");
  const clusters = createClusters({
    store,
    maas,
    images,
    seal,
    settings: { ...settings, ...options.settings },
    workload: {
      connect: (access) => {
        const nodes = (signal = new AbortController().signal) =>
          options.nodes?.(access, signal) ?? notRequested();
        return { nodes, close: async () => {} } as Pick<
          WorkloadCluster,
          "nodes" | "close"
        > as WorkloadCluster;
      },
    },
  });
  const kaasChanges = createKaasChanges(clusters.specs, noOperations);
  const serviceChanges = createClusterServiceChanges(clusters.kubeconfigs, strays);
  const registrations = [
    createKaasService(clusters, kaasChanges, { version: "1.2.3" }),
    createClusterService(clusters, strays, serviceChanges),
  ];
  const planners = [plannersOf(Cluster, kaasChanges), plannersOf(ClusterService, serviceChanges)];

  async function call<M extends DescMethodUnary>(
    method: M,
    input: MessageInitShape<M["input"]>,
    appliedPlan?: AppliedPlan,
  ) {
    const created = createCall({ method, ...(appliedPlan === undefined ? {} : { appliedPlan }) });
    created.identify({ ...anonymous, actor: "user/alice" });
    const registration = registrations.find(({ service }) => service === method.parent);
    const handler = registration?.handlerOf(method);
    if (handler === undefined) {
      throw new TypeError(`${method.name} is not registered`);
    }
    const answer = await (handler(create(method.input, input as never), created) as Promise<object>);
    return create(method.output, answer as never) as MessageShape<M["output"]>;
  }

  async function pass() {
    const { pass: claimed } = await store.run("clusters.claim", {
      instanceId: "gw",
      leaseMs: 60_000,
      backend: maas.url,
    });
    if (claimed === undefined) {
      throw new Error("no cluster is due");
    }
    const { name, uid } = claimed.cluster;
    return { ...claimed, fenced: { name, uid, owner: "gw", fence: claimed.fence } };
  }

  return {
    store,
    clusters,
    seal,
    call,
    async plan(method, input) {
      const planner = planners.find(({ service }) => service === method.parent)?.plannerOf(method);
      if (planner === undefined) {
        throw new TypeError(`${method.name} has no plan`);
      }
      return planner(create(method.input, input as never), {
        signal: new AbortController().signal,
        peer: { lvmd: "backups" },
      });
    },
    async createCluster(name, input = {}) {
      await call(createCluster, {
        name,
        k8sVersion: "1.35.4",
        controlPlaneNodes: { instanceType: "standard", count: 3 },
        workerNodePools: [{ name: "work", instanceType: "standard", count: 2 }],
        ...input,
      });
    },
    async writeSlots(add, ...change) {
      const { fenced } = await pass();
      await store.run("clusters.writeSlots", { fenced, add, change: [] });
      const written = await store.run("clusters.writeSlots", { fenced, add: [], change });
      await store.run("clusters.yieldPass", { fenced });
      if (!written.ok) {
        throw new Error("the write was refused");
      }
      return written.slots;
    },
    async settle(message = "") {
      const { fenced, cluster } = await pass();
      const { generation: settledGeneration } = cluster;
      const status = "running" as const;
      await store.run("clusters.settle", {
        fenced,
        status,
        message,
        hasRun: true,
        settledGeneration,
        dueInMs: 0,
      });
    },
    async everything() {
      const states = await store.run("clusters.states", {});
      const secrets = await Promise.all(
        states.map(async ({ cluster: { name } }) => {
          const { secretsSealed = [] } = (await store.run("clusters.secrets", { name })) ?? {};
          return Buffer.from(secretsSealed).toString("base64");
        }),
      );
      return JSON.stringify([states, secrets]);
    },
  };
}

/** Returns a slot of the control plane, or of a pool. */
export function newSlot(uid: string, pool?: string, k8sVersion = "1.35.4"): NewSlot {
  return { uid, pool, instanceType: "standard", labels: [], k8sVersion };
}
