import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "tap";
import { makeDirectory } from "../../server/store/store-under-test.ts";
import { assertLawful, assertNoSecrets, type MachineEventRow } from "./clusters-audit.ts";
import { assertCalm } from "./clusters-checks.ts";
import { makeClustersHome } from "./clusters-process.ts";
import { clusterBoundaries, clustersStorm } from "./clusters-storm.ts";
import { startClustersWorld } from "./clusters-world.ts";

/** Number of kills; the long form has enough for every boundary, and four times as many clusters. */
const kills = Number(process.env.CLUSTER_KILLS ?? 2);
const isLong = kills >= 200;
const seed = Number(process.env.CLUSTER_SEED ?? Date.now() % 2 ** 31);

test("no machine is lost or allocated twice while gateways are killed and MAAS fails", async (t) => {
  t.comment(`CLUSTER_SEED=${seed}`);
  const directory = await makeDirectory(t);
  const world = await startClustersWorld(t, isLong ? { standard: 175, gpu: 3 } : { standard: 24, gpu: 2 });
  const home = makeClustersHome(t, world, { directory, pollSeconds: isLong ? 0.4 : 0.2 });
  const storm = await clustersStorm(t, { world, home, seed, clusters: isLong ? 20 : 2, kills });
  await assertCalm(t, { ...storm, world });
  storm.gateway.signal("SIGKILL");
  await storm.gateway.ended;
  assertLawful(t, { ...storm, changes: world.changes, events: machineEvents(join(directory, "data")) });
  assertNoSecrets(t, world.changes, world.apiKey, home.log());
  if (isLong) {
    // Whether a machine is marked as broken depends on chance: the same machine has to fail twice.
    const certain = clusterBoundaries.filter((name) => !name.endsWith("maas.markBroken"));
    t.same(
      certain.filter((name) => !storm.atBoundaries.has(name)),
      [],
      "a gateway was killed at every boundary",
    );
  }
});

function machineEvents(data: string): readonly MachineEventRow[] {
  using database = new DatabaseSync(join(data, "hostplane.db"));
  const type = "kubernetesMachine.changed";
  return database
    .prepare("select at, payload_json from events where type = ? order by seq")
    .all(type) as unknown as MachineEventRow[];
}
