import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { readerCapabilities } from "../../../adapters/ceph/inspect.ts";
import { cephSkipReason, makeCeph } from "../../lab/ceph/ceph.ts";
import { startGatewayProcess } from "../../lab/gateway-process.ts";
import type { Bench, BenchRun } from "../bench.ts";
import { p99Ms, tookMs } from "../figures/took-ms.ts";
import { callGrpc } from "../load/grpc-call.ts";
import { openedRun } from "../load/opened-run.ts";

const rate = { callsPerSecond: 1_000, durationMs: 2_000 };

/** The figures of a real Ceph cluster: from a gateway that gets a thousand calls a second, and from a process of `ceph`. */
export function createClusterStats(): Bench {
  return {
    name: "cluster-stats",
    what: `GetClusterStats of a Ceph cluster, ${rate.callsPerSecond.toLocaleString("en")} calls a second over gRPC: 99th percentile`,
    baseline: "`ceph status`",
    unit: "ms",
    maxRatio: 0.1,
    rounds: 10,
    coldRounds: 2,
    isLab: true,
    skipReason: cephSkipReason,
    start: () => openedRun(startRun),
  };
}

async function startRun(opened: AsyncDisposableStack): Promise<BenchRun> {
  const ceph = await makeCeph((destroy) => opened.defer(destroy), { osds: 3 });
  const user = "client.hostplane";
  const capabilities = [...readerCapabilities.matchAll(/(\w+) '([^']*)'/g)];
  const keyring = await ceph.makeKey(
    user,
    capabilities.flatMap(([, daemon = "", may = ""]) => [daemon, may]),
  );
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const gateway = await startGatewayProcess(join(directory, "hostplane.yaml"), undefined, {
    listen: [{ address: "127.0.0.1:0", auth: "none", role: "viewer", services: ["stats.StatsService"] }],
    storage: { ceph: { conf: ceph.confPath, user, keyring } },
  });
  opened.defer(() => gateway.kill("SIGTERM"));
  const connection = connect(gateway.url);
  opened.defer(() => connection.close());
  await once(connection, "connect");
  return {
    baseline: { measure: () => tookMs(() => promisify(execFile)("ceph", ["-c", ceph.confPath, "status"])) },
    ours: { measure: () => p99Ms(() => callGrpc(connection, "/stats.StatsService/GetClusterStats"), rate) },
    stop: () => opened.disposeAsync(),
  };
}
