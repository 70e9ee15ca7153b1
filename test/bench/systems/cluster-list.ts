import { once } from "node:events";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Cluster } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { databaseFile } from "../../../server/store/open-store.ts";
import { startGatewayProcess } from "../../lab/gateway-process.ts";
import type { Bench, BenchRun } from "../bench.ts";
import { callGrpc } from "../load/grpc-call.ts";
import { openedRun } from "../load/opened-run.ts";

const clusters = 1_000;
/** Number of calls in a round; a single call is too short for the clock. */
const calls = 50;

/** Lists all clusters in brief: from a gateway that has them in its store, and from a copy of its database. */
export function createClusterList(): Bench {
  return {
    name: "cluster-list",
    what: `GetClusterList of ${clusters.toLocaleString("en")} clusters over gRPC`,
    baseline: "the same rows of a copy read by `node:sqlite`",
    unit: "ms",
    maxRatio: 10,
    rounds: 20,
    coldRounds: 5,
    start: () => openedRun(startRun),
  };
}

async function startRun(opened: AsyncDisposableStack): Promise<BenchRun> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const [apiKeyFile, manifest] = [join(directory, "maas.key"), join(directory, "cni.yaml")];
  await writeFile(apiKeyFile, "consumer:token:secret", { mode: 0o600 });
  await writeFile(manifest, "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: network\n");
  const start = () =>
    startGatewayProcess(join(directory, "hostplane.yaml"), undefined, {
      listen: [{ address: "127.0.0.1:0", auth: "none", role: "viewer", services: [Cluster.typeName] }],
      // Nothing listens there, and no request is sent: the clusters belong to another MAAS.
      clusters: { maas: { url: "http://127.0.0.1:9/MAAS", apiKeyFile }, cni: { manifest } },
    });
  const first = await start();
  await first.kill("SIGTERM");
  const file = databaseFile(join(directory, "data"));
  const filling = new DatabaseSync(file);
  fill(filling);
  filling.close();
  const copy = join(directory, "copy.db");
  await copyFile(file, copy);
  const database = new DatabaseSync(copy);
  opened.defer(() => database.close());
  const gateway = await start();
  opened.defer(() => gateway.kill("SIGTERM"));
  const client = createClient(Cluster, createGrpcTransport({ baseUrl: gateway.url }));
  const listed = await client.getClusterList({});
  if (listed.clusters.length !== clusters) {
    throw new Error(`expected ${clusters} clusters, found ${listed.clusters.length}`);
  }
  const connection = connect(gateway.url);
  opened.defer(() => connection.close());
  await once(connection, "connect");
  const select = database.prepare("select name, backend, status, message from clusters order by name");
  return {
    baseline: { measure: () => meanMs(() => select.all()) },
    ours: { measure: () => meanMs(() => callGrpc(connection, "/cnct.kaas.api.Cluster/GetClusterList")) },
    stop: () => opened.disposeAsync(),
  };
}

function fill(database: DatabaseSync): void {
  const columns = {
    backend: "http://other.invalid/MAAS",
    generation: 1,
    k8s_version: "1.36.3",
    control_plane_version: "1.36.3",
    control_plane_count: 3,
    control_plane_type: "standard",
    control_plane_labels_json: "[]",
    endpoint: null,
    // As long as real ones.
    secrets_sealed: new Uint8Array(4_300),
    secrets_version: 1,
    is_deleting: 0,
    status: "running",
    message: "",
    settled_generation: 1,
    has_run: 1,
    actor: "user/admin",
    created_at: 0,
    owner: null,
    fence: 0,
    lease_until: 0,
    due_at: 0,
  };
  const names = ["name", "uid", ...Object.keys(columns)];
  const insert = database.prepare(
    `insert into clusters (${names.join(", ")}) values (${names.map(() => "?").join(", ")})`,
  );
  database.exec("begin");
  for (let number = 0; number < clusters; number += 1) {
    insert.run(`cluster-${number}`, `uid-${number}`, ...Object.values(columns));
  }
  database.exec("commit");
}

/** Returns the mean time of a call in milliseconds; the calls run one after the other. */
async function meanMs(call: () => unknown): Promise<number> {
  const beganAtMs = performance.now();
  for (let left = calls; left > 0; left -= 1) {
    await call();
  }
  return (performance.now() - beganAtMs) / calls;
}
