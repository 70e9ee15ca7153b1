import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../random.ts";
import { type ClusterClients, type ClustersClient, type IsDone, isSettled } from "./clusters-client.ts";
import { kubernetesVersions } from "./clusters-world.ts";

/** The desired state of a cluster. */
export interface ClusterSpec {
  readonly name: string;
  readonly controlPlane: number;
  readonly version: string;
  readonly pools: ReadonlyMap<string, PoolSpec>;
}

interface PoolSpec {
  readonly instanceType: "standard" | "gpu";
  readonly count: number;
}

export interface LifeOptions {
  readonly name: string;
  readonly client: ClustersClient;
  readonly random: Random;
  readonly isOver: () => boolean;
  /** Called when the cluster of this name has been deleted. */
  readonly onGone: () => void;
}

export interface Life {
  /** Undefined if the cluster was deleted. */
  readonly expected: ClusterSpec | undefined;
  /** Number of successful calls of each kind. */
  readonly counts: ReadonlyMap<string, number>;
}

const mostMachines = 3;
const patienceMs = 5_000;

/** Creates a cluster and changes it repeatedly, sometimes before the last change is done. */
export async function liveClusterLife({ name, client, random, isOver, onGone }: LifeOptions): Promise<Life> {
  const counts = new Map<string, number>();
  let pools = new Map<string, PoolSpec>();
  let version = "";
  let controlPlane = 1;
  let poolNumber = 0;

  function done(kind: string): void {
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }

  /** @returns whether the change was made; false while an upgrade blocks it, which never ends in a lost cluster */
  async function change(
    call: (clients: ClusterClients) => Promise<unknown>,
    isDone: IsDone,
  ): Promise<boolean> {
    let isInTheWay = false;
    await client.query(call, async (error, wasCut) => {
      if (await isDone(error, wasCut)) {
        return true;
      }
      isInTheWay = error.reason === "UPGRADE_IN_PROGRESS";
      if (isInTheWay && wasCut) {
        await readAgain();
      }
      return isInTheWay;
    });
    return !isInTheWay;
  }

  /** After a cut call, only the gateway knows whether the change was made. */
  async function readAgain(): Promise<void> {
    const state = await client.state(name);
    if (state !== undefined) {
      version = state.k8sVersion.replace(/^v/, "");
      pools = new Map(
        state.pools.map((pool) => {
          const instanceType = pool.instanceType === "gpu" ? "gpu" : "standard";
          return [pool.name, { instanceType, count: pool.wanted }];
        }),
      );
    }
  }

  function newPool(): readonly [string, PoolSpec] {
    poolNumber += 1;
    const instanceType = random.happens(0.15) ? "gpu" : "standard";
    return [`pool-${poolNumber}`, { instanceType, count: instanceType === "gpu" ? 1 : random.int(1, 2) }];
  }

  async function create(): Promise<void> {
    version = random.pick(kubernetesVersions.slice(0, 2));
    controlPlane = random.happens(0.4) ? 3 : 1;
    pools = new Map(Array.from({ length: random.int(1, 2) }, newPool));
    const workerNodePools = [...pools].map(([pool, rest]) => ({ name: pool, ...rest }));
    await client.query(
      ({ clusters }) =>
        clusters.createCluster({
          name,
          k8sVersion: version,
          controlPlaneNodes: { instanceType: "standard", count: controlPlane },
          workerNodePools,
        }),
      ({ reason }, wasCut) => wasCut && reason === "CLUSTER_EXISTS",
    );
    done("create");
  }

  async function remove(): Promise<void> {
    await client.query(
      ({ clusters }) => clusters.deleteCluster({ name }),
      ({ reason }, wasCut) => wasCut && reason === "CLUSTER_NOT_FOUND",
    );
    if (random.happens(0.5)) {
      // Repeats the call, as a client does when it is not sure.
      await client.query(
        ({ clusters }) => clusters.deleteCluster({ name }),
        ({ reason }) => reason === "CLUSTER_NOT_FOUND",
      );
    }
    while ((await client.state(name)) !== undefined) {
      await wait(200);
    }
    onGone();
    done("delete");
  }

  async function scale(): Promise<void> {
    const [pool, rest] = random.pick([...pools]);
    const count = rest.instanceType === "gpu" ? 1 : random.int(1, mostMachines);
    const nodePools = [{ name: pool, count }];
    const isDone = await change(
      ({ clusters }) => clusters.scaleNodePool({ clusterName: name, nodePools }),
      () => false,
    );
    if (isDone) {
      pools.set(pool, { ...rest, count });
      done(count > rest.count ? "scale up" : "scale down");
    }
  }

  async function addPool(): Promise<void> {
    const [pool, rest] = newPool();
    const workerNodePools = [{ name: pool, ...rest }];
    const isDone = await change(
      ({ clusters }) => clusters.addNodePool({ clusterName: name, workerNodePools }),
      ({ reason }, wasCut) => wasCut && reason === "POOL_EXISTS",
    );
    if (isDone) {
      pools.set(pool, rest);
      done("add a pool");
    }
  }

  async function deletePool(): Promise<void> {
    const [pool] = random.pick([...pools]);
    const isDone = await change(
      ({ clusters }) => clusters.deleteNodePool({ clusterName: name, nodePoolNames: [pool] }),
      ({ reason }, wasCut) => wasCut && reason === "POOL_NOT_FOUND",
    );
    if (isDone) {
      pools.delete(pool);
      done("delete a pool");
    }
  }

  async function upgrade(): Promise<void> {
    const next = kubernetesVersions[kubernetesVersions.indexOf(version) + 1];
    if (next === undefined) {
      return scale();
    }
    const isDone = await change(
      ({ clusters }) => clusters.upgradeCluster({ name, version: next }),
      async (_, wasCut) => wasCut && (await client.state(name))?.k8sVersion.replace(/^v/, "") === next,
    );
    if (isDone) {
      version = next;
      done("upgrade");
    }
  }

  async function recreate(): Promise<void> {
    await remove();
    await create();
  }

  async function settle(): Promise<void> {
    const endMs = performance.now() + patienceMs;
    for (let isThere = false; !isThere && !isOver() && performance.now() < endMs; await wait(150)) {
      const now = await client.state(name);
      isThere = now !== undefined && isSettled(now);
    }
  }

  await create();
  while (!isOver()) {
    await (random.happens(0.75) ? settle() : wait(random.int(50, 600)));
    const kind = random.next();
    if (kind < 0.4) {
      await scale();
    } else if (kind < 0.7) {
      await upgrade();
    } else if (kind < 0.88) {
      await (pools.size < 2 ? addPool() : deletePool());
    } else {
      await recreate();
    }
  }
  if (random.happens(0.4)) {
    await remove();
    return { expected: undefined, counts };
  }
  return { expected: { name, controlPlane, version, pools }, counts };
}
