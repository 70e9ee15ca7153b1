import { setTimeout as wait } from "node:timers/promises";
import type { Test } from "tap";
import { ClusterStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { createRandom, type Random } from "../random.ts";
import { type ClustersClient, createClustersClient, isSettled } from "./clusters-client.ts";
import { type ClusterSpec, type Life, liveClusterLife } from "./clusters-life.ts";
import type { ClustersGateway, ClustersHome, Failpoint } from "./clusters-process.ts";
import { type ClustersTrouble, makeTrouble } from "./clusters-trouble.ts";
import type { ClustersWorld } from "./clusters-world.ts";

export interface ClustersStormOptions {
  readonly world: ClustersWorld;
  readonly home: ClustersHome;
  readonly seed: number;
  readonly clusters: number;
  readonly kills: number;
}

export interface ClustersStormReport {
  readonly client: ClustersClient;
  /** The gateway that runs at the end of the storm. */
  readonly gateway: ClustersGateway;
  /** All clusters that should exist at the end. */
  readonly expected: readonly ClusterSpec[];
  readonly killedAtMs: readonly number[];
  /** Names of the boundaries at which gateways died. */
  readonly atBoundaries: ReadonlySet<string>;
}

const writes = [
  ...["wanted", "candidate", "allocated", "annotated", "deploying", "booted", "joined", "draining"],
  ...["releasing", "released"],
].map((state) => `write ${state}`);
const calls = [
  ...["reserveAddress", "allocate", "annotate", "deploy", "release", "markBroken", "releaseAddress"].map(
    (name) => `maas.${name}`,
  ),
  ...["setVersion", "writeSecret", "cordon", "drain", "removeEtcdMember", "deleteNode"].map(
    (name) => `workload.${name}`,
  ),
];

/** Every boundary in the life of clusters. */
export const clusterBoundaries: readonly string[] = ["before", "after"].flatMap((when) =>
  [...writes, ...calls, "settle", "forget"].map((what) => `${when} ${what}`),
);

/** The next gateway kills itself at a boundary or is killed after a time, whichever comes first. */
interface Fate {
  readonly failpoint: Failpoint | undefined;
  readonly afterMs: number;
}

const patienceMs = 120_000;

/**
 * Clients create and change clusters while MAAS fails and gateways are killed. Then all failures end, and every cluster reaches
 * its spec.
 */
export async function clustersStorm(t: Test, options: ClustersStormOptions): Promise<ClustersStormReport> {
  const { world, home, seed, clusters, kills } = options;
  const random = createRandom(seed);
  const killedAtMs: number[] = [];
  const atBoundaries = new Set<string>();
  let gateway: ClustersGateway | undefined;
  let isOver = false;
  const client = createClustersClient(() => gateway?.url);
  const trouble = makeTrouble(world, createRandom(random.int(0, 2 ** 31)));
  t.teardown(async () => {
    isOver = true;
    await trouble.end();
  });

  const seen = new Set<string>();
  const fates = createFates(random, atBoundaries, seen);
  async function liveAndDie(): Promise<void> {
    const { failpoint, afterMs } = fates();
    const started = await home.start(failpoint);
    gateway = started;
    const timer = setTimeout(() => started?.signal("SIGKILL"), afterMs);
    const isOwnDoing = started === undefined || (await started.ended).isOwnDoing;
    clearTimeout(timer);
    gateway = undefined;
    for (const boundary of started?.visits.keys() ?? []) {
      seen.add(boundary);
    }
    killedAtMs.push(Date.now());
    if (isOwnDoing && failpoint !== undefined) {
      atBoundaries.add(failpoint.boundary);
    }
  }

  async function reign(): Promise<void> {
    while (!isOver && killedAtMs.length < kills) {
      await liveAndDie();
    }
    isOver = true;
    await trouble.end();
    // Replaces machines that were broken.
    world.addGpus(8);
    gateway = await home.start();
  }

  const names = Array.from({ length: clusters }, (_, index) => `storm-${index + 1}`);
  const living = names.map((name) =>
    liveClusterLife({
      name,
      client,
      random: createRandom(random.int(0, 2 ** 31)),
      isOver: () => isOver,
      onGone: () => trouble.forgive(name),
    }),
  );
  const [lives] = await Promise.all([Promise.all(living), reign()]);
  printReport(t, { lives, trouble, killedAtMs, atBoundaries });
  const expected = await settle(t, client, lives, trouble);
  if (gateway === undefined) {
    throw new Error("the last gateway has ended");
  }
  return { client, gateway, expected, killedAtMs, atBoundaries };
}

/**
 * @param met boundaries at which gateways have died
 * @param seen boundaries that gateways have visited
 */
function createFates(random: Random, met: ReadonlySet<string>, seen: ReadonlySet<string>): () => Fate {
  let turn = 0;
  return () => {
    turn += 1;
    if (turn % 2 === 0) {
      return { failpoint: undefined, afterMs: random.int(0, 2_500) };
    }
    const unmet = clusterBoundaries.filter((name) => !met.has(name));
    // Prefers visited boundaries: some occur only with certain work.
    const likely = unmet.filter((name) => seen.has(name));
    const choices = [likely, unmet, clusterBoundaries].find(({ length }) => length > 0) ?? [];
    return {
      failpoint: { boundary: random.pick(choices), visit: random.happens(0.7) ? 1 : 2 },
      afterMs: random.int(500, 5_000),
    };
  };
}

/**
 * Waits until every cluster matches its spec. Clusters that are lost because an administrator took their machines are deleted.
 */
async function settle(
  t: Test,
  client: ClustersClient,
  lives: readonly Life[],
  { robbed }: ClustersTrouble,
): Promise<readonly ClusterSpec[]> {
  let expected = lives.flatMap((life) => life.expected ?? []);
  const beganMs = performance.now();
  for (;;) {
    const states = new Map((await client.states()).map((state) => [state.name, state]));
    for (const { name, status } of states.values()) {
      if (status === ClusterStatus.ERROR && robbed.has(name)) {
        await client.query(({ clusters }) => clusters.deleteCluster({ name }));
        expected = expected.filter((each) => each.name !== name);
        t.comment(`${name} has lost its control plane to an administrator, and is deleted`);
      }
    }
    const isAll = expected.every(({ name }) => {
      const state = states.get(name);
      return state !== undefined && isSettled(state);
    });
    if (isAll && states.size === expected.length) {
      t.comment(`settled ${Math.round(performance.now() - beganMs)} ms after the last failure`);
      return expected;
    }
    if (performance.now() - beganMs > patienceMs) {
      const words = [...states.values()].map(
        ({ name, status, statusMessage }) => `${name} ${status}: ${statusMessage}`,
      );
      throw new Error(
        `not settled in time; expected ${expected.map(({ name }) => name)}\n${words.join("\n")}`,
      );
    }
    await wait(250);
  }
}

function printReport(
  t: Test,
  {
    lives,
    trouble,
    killedAtMs,
    atBoundaries,
  }: Pick<ClustersStormReport, "killedAtMs" | "atBoundaries"> & {
    lives: readonly Life[];
    trouble: ClustersTrouble;
  },
): void {
  const counts = new Map<string, number>();
  for (const [kind, count] of lives.flatMap((life) => [...life.counts])) {
    counts.set(kind, (counts.get(kind) ?? 0) + count);
  }
  const words = (all: ReadonlyMap<string, number>) =>
    [...all].map(([kind, count]) => `${count} ${kind}`).join(", ");
  t.comment(`calls: ${words(counts)}`);
  t.comment(`failures: ${words(trouble.counts)}`);
  t.comment(`${killedAtMs.length} kills, at ${atBoundaries.size} of ${clusterBoundaries.length} boundaries`);
}
