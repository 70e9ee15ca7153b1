import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { test } from "tap";
import { assertLawful, assertNoSecrets, type MachineEventRow } from "../../chaos/clusters/clusters-audit.ts";
import { assertCalm } from "../../chaos/clusters/clusters-checks.ts";
import {
  type ClustersClient,
  createClustersClient,
  isSettled,
} from "../../chaos/clusters/clusters-client.ts";
import type { ClusterSpec } from "../../chaos/clusters/clusters-life.ts";
import { type ClustersGateway, makeClustersHome } from "../../chaos/clusters/clusters-process.ts";
import { startClustersWorld } from "../../chaos/clusters/clusters-world.ts";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const leaseSeconds = 4;
const patienceMs = 300_000;

test("two gateways on one PostgreSQL share the work; a frozen one does no harm, and a dead one blocks nothing", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const postgres = await startPostgres(t);
  const storeUrl = await postgres.createDatabase();
  const directory = await makeDirectory(t);
  const keyFile = join(directory, "key");
  writeFileSync(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  const world = await startClustersWorld(t, { standard: 60, gpu: 1 });
  const [homeA, homeB] = ["a", "b"].map((name) => {
    const own = join(directory, name);
    mkdirSync(own);
    return makeClustersHome(t, world, {
      directory: own,
      pollSeconds: 0.2,
      leaseSeconds,
      shared: { storeUrl, keyFile },
    });
  }) as [ReturnType<typeof makeClustersHome>, ReturnType<typeof makeClustersHome>];
  const a = gatewayFrom(await homeA.start());
  const b = gatewayFrom(await homeB.start());
  // The client uses the addresses in turn.
  let alive = [a, b];
  let turn = 0;
  const client = createClustersClient(() => alive[turn++ % alive.length]?.url);
  let expected = Array.from({ length: 6 }, (_, index): ClusterSpec => {
    const pools = new Map([["work", { instanceType: "standard", count: 2 } as const]]);
    return { name: `shared-${index + 1}`, controlPlane: index < 4 ? 3 : 1, version: "1.34.8", pools };
  });

  await Promise.all(expected.map((each) => create(client, each)));
  await untilSettled(client, expected);
  for (const [name, gateway] of [["the one", a] as const, ["the other", b] as const]) {
    t.ok(visitsOf(gateway, "before maas.deploy") > 0, `${name} has deployed machines`);
  }

  // Frozen in the middle of its work, until the other gateway has done everything.
  expected = await scaleUntilActive(client, expected, [4, 3], a);
  alive = [b];
  a.signal("SIGSTOP");
  const frozenAtMs = performance.now();
  await untilSettled(client, expected);
  const frozenMs = Math.round(performance.now() - frozenAtMs);
  t.ok(frozenMs > 0, `the other gateway had done everything after ${frozenMs} ms`);
  await wait(Math.max(0, 1.5 * leaseSeconds * 1000 - frozenMs));
  expected = await Promise.all(expected.map((each) => upgrade(client, each, "1.35.4")));
  await wait(500);
  const idle = visitsOf(a, "before settle");
  a.signal("SIGCONT");
  alive = [a, b];
  await untilSettled(client, expected);
  t.ok(visitsOf(a, "before settle") > idle, "the frozen gateway works again");

  // The other gateway dies, also in the middle of its work.
  await Promise.all(
    expected.slice(0, 2).map(({ name }) => client.query(({ clusters }) => clusters.deleteCluster({ name }))),
  );
  expected = await scaleUntilActive(client, expected.slice(2), [1, 2], b);
  alive = [a];
  b.signal("SIGKILL");
  await b.ended;
  const killedAtMs = [Date.now()];
  await untilSettled(client, expected);

  await assertCalm(t, { world, client, expected });
  const events = await postgres.query(
    "select at, payload_json from events where type = 'kubernetesMachine.changed' order by seq",
    storeUrl,
  );
  assertLawful(t, { changes: world.changes, events: events as unknown as MachineEventRow[], killedAtMs });
  assertNoSecrets(t, world.changes, world.apiKey, homeA.log() + homeB.log());
});

function gatewayFrom(started: ClustersGateway | undefined): ClustersGateway {
  if (started === undefined) {
    throw new Error("a gateway died while it started");
  }
  return started;
}

function visitsOf({ visits }: ClustersGateway, boundary: string): number {
  return visits.get(boundary) ?? 0;
}

/** Returns how often a gateway was about to change something in MAAS or in a cluster. */
function changesOf({ visits }: ClustersGateway): number {
  const changes = [...visits].filter(([boundary]) => /^before (maas|workload)\./.test(boundary));
  return changes.reduce((sum, [, count]) => sum + count, 0);
}

/**
 * Scales all clusters back and forth between two counts until the gateway has changed something, because the other one may do all
 * the work.
 * @returns the desired clusters after that
 */
async function scaleUntilActive(
  client: ClustersClient,
  clusters: readonly ClusterSpec[],
  counts: readonly [number, number],
  gateway: ClustersGateway,
): Promise<ClusterSpec[]> {
  const before = changesOf(gateway);
  let expected = [...clusters];
  for (let turn = 0; turn < 20; turn += 1) {
    const count = counts[turn % 2] ?? 0;
    expected = await Promise.all(expected.map((each) => scale(client, each, count)));
    let isDone = false;
    const settled = untilSettled(client, expected).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      if (changesOf(gateway) > before) {
        settled.catch(() => {});
        return expected;
      }
      await wait(2);
    }
    await settled;
  }
  throw new Error("the gateway took no part in any of it");
}

async function create(
  client: ClustersClient,
  { name, controlPlane, version, pools }: ClusterSpec,
): Promise<void> {
  const workerNodePools = [...pools].map(([pool, rest]) => ({ name: pool, ...rest }));
  const controlPlaneNodes = { instanceType: "standard", count: controlPlane };
  await client.query(({ clusters }) =>
    clusters.createCluster({ name, k8sVersion: version, controlPlaneNodes, workerNodePools }),
  );
}

async function scale(client: ClustersClient, expected: ClusterSpec, count: number): Promise<ClusterSpec> {
  const nodePools = [...expected.pools.keys()].map((name) => ({ name, count }));
  await client.query(({ clusters }) => clusters.scaleNodePool({ clusterName: expected.name, nodePools }));
  const pools = [...expected.pools].map(([name, pool]) => [name, { ...pool, count }] as const);
  return { ...expected, pools: new Map(pools) };
}

async function upgrade(client: ClustersClient, expected: ClusterSpec, version: string): Promise<ClusterSpec> {
  await client.query(({ clusters }) => clusters.upgradeCluster({ name: expected.name, version }));
  return { ...expected, version };
}

async function untilSettled(client: ClustersClient, expected: readonly ClusterSpec[]): Promise<void> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const states = await client.states();
    if (states.length === expected.length && states.every(isSettled)) {
      return;
    }
    if (performance.now() > endMs) {
      throw new Error(
        `not settled in time: ${states.map(({ name, statusMessage }) => `${name}: ${statusMessage}`).join("; ")}`,
      );
    }
    await wait(100);
  }
}
