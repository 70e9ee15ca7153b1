import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type CephCluster, makeCeph } from "./ceph.ts";

// Records a cluster's responses for tests that run without one:
//
//   node test/lab/ceph/record-ceph.ts
//
// A run takes a minute or two. Each file is named after a state, and has the responses that depend on it, by command.

const samplesPath = fileURLToPath(new URL("../../adapters/ceph/samples/", import.meta.url));
const everything = [
  ["status"],
  ["mon", "dump"],
  ["mgr", "dump"],
  ["fs", "dump"],
  ["node", "ls"],
  ["osd", "dump"],
  ["osd", "tree"],
  ["osd", "crush", "rule", "dump"],
  ["df", "detail"],
  ["crash", "ls"],
  ["osd", "df"],
  ["pg", "dump", "pgs"],
  ["fs", "subvolumegroup", "ls", "cephfs"],
  ["fs", "subvolume", "ls", "cephfs"],
];

async function record(
  ceph: CephCluster,
  state: string,
  commands: readonly (readonly string[])[],
): Promise<void> {
  const answers: Record<string, unknown> = {};
  for (const command of commands) {
    answers[command.join(" ")] = JSON.parse(await ceph.run("ceph", ...command, "-f", "json"));
  }
  // Leaves out the name of the recording machine.
  const text = JSON.stringify(answers, (key, value) => (key === "container_name" ? undefined : value));
  await writeFile(`${samplesPath}${state}.json`, `${text}\n`);
}

async function untilStatus(ceph: CephCluster, isReached: (text: string) => boolean): Promise<void> {
  const deadlineMs = performance.now() + 60_000;
  while (!isReached(await ceph.run("ceph", "status", "-f", "json"))) {
    if (performance.now() > deadlineMs) {
      throw new Error(await ceph.run("ceph", "status"));
    }
    await sleep(200);
  }
}

const isHealthy = (text: string): boolean => {
  const { health, pgmap, fsmap } = JSON.parse(text);
  const isClean = pgmap.pgs_by_state.every(
    (row: { state_name: string }) => row.state_name === "active+clean",
  );
  return health.status === "HEALTH_OK" && isClean && fsmap.up === 1;
};
const hasCheck = (code: string) => (text: string) => JSON.parse(text).health.checks[code] !== undefined;

async function recordAll(ceph: CephCluster): Promise<void> {
  await ceph.run("ceph", "osd", "pool", "create", "images", "4", "--size", "2");
  await ceph.run("rbd", "pool", "init", "images");
  await ceph.run("rbd", "create", "images/one", "--size", "16M");
  await ceph.run(
    "ceph",
    "osd",
    "erasure-code-profile",
    "set",
    "two-one",
    "k=2",
    "m=1",
    "crush-failure-domain=osd",
  );
  await ceph.run("ceph", "osd", "pool", "create", "coded", "4", "4", "erasure", "two-one");
  await untilStatus(ceph, isHealthy);
  await ceph.run("ceph", "fs", "subvolumegroup", "create", "cephfs", "team");
  await ceph.run("ceph", "fs", "subvolume", "create", "cephfs", "home", "--group_name", "team");
  await ceph.run("ceph", "fs", "subvolume", "create", "cephfs", "scratch");
  await record(ceph, "healthy", everything);

  const bench = execFile("rados", [
    "-c",
    ceph.confPath,
    "bench",
    "-p",
    "images",
    "30",
    "write",
    "-b",
    "4096",
  ]);
  await untilStatus(ceph, (text) => JSON.parse(text).pgmap.write_op_per_sec > 0);
  await record(ceph, "load", [["status"], ["df", "detail"]]);
  bench.kill("SIGKILL");

  await ceph.stop("osd.1");
  await untilStatus(ceph, (text) => hasCheck("OSD_DOWN")(text) && hasCheck("PG_DEGRADED")(text));
  await record(ceph, "osd-down", [["status"], ["osd", "dump"], ["osd", "tree"]]);
  await ceph.start("osd.1");
  await untilStatus(ceph, isHealthy);

  await ceph.crash("osd.2");
  await untilStatus(ceph, hasCheck("RECENT_CRASH"));
  await record(ceph, "crash", [["status"], ["crash", "ls"]]);
  const [crash] = JSON.parse(await ceph.run("ceph", "crash", "ls", "-f", "json"));
  await ceph.run("ceph", "crash", "archive", crash.crash_id);
  await record(ceph, "crash-archived", [["crash", "ls"]]);
  await ceph.start("osd.2");
  await untilStatus(ceph, isHealthy);

  await ceph.run("rados", "-p", "images", "put", "object", fileURLToPath(import.meta.url));
  await ceph.run("ceph", "osd", "pool", "set-quota", "images", "max_bytes", "1024");
  await ceph.run("ceph", "osd", "pool", "set-quota", "images", "max_objects", "1");
  await untilStatus(ceph, hasCheck("POOL_FULL"));
  await record(ceph, "quota", [["status"], ["osd", "dump"], ["df", "detail"]]);

  await ceph.stop("mgr.b");
  await ceph.stop("mgr.a");
  // Ceph reports it only a minute later.
  await untilStatus(ceph, (text) => !JSON.parse(text).mgrmap.available);
  await record(ceph, "mgr-down", [["status"], ["mgr", "dump"]]);
}

let destroy = async (): Promise<void> => {};
const onEnd = (how: () => Promise<void>): void => {
  destroy = how;
};
try {
  // Disks in memory would lose their data when a daemon stops.
  await recordAll(await makeCeph(onEnd, { osds: 3, mgrs: 2, mdss: 2, store: "bluestore" }));
} finally {
  await destroy();
}
