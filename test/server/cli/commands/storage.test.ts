import { test } from "tap";
import { dataWithStore, stop } from "../data-under-test.ts";

test("the storage cluster is shown in tables and as JSON", async (t) => {
  const data = await dataWithStore(t);
  const { run, refused } = data;
  const gateway = await data.serve();

  const stats = await run(["storage", "stats"]);
  t.match(stats, /^FIGURE +VALUE\ncluster +[-0-9a-f]{36}\nhealth +HEALTH_OK\nmonitors +3, in quorum a,b,c\n/);
  t.match(stats, /^volumes +16$/m);
  t.match(JSON.parse(await run(["storage", "stats", "-o", "json"])), {
    status: "HEALTH_OK",
    services: { osd: { osdCount: 6, osdUp: 6, osdIn: 6 } },
    iops: { clientRead: "853.00 B/s rd" },
  });
  const radar = await run(["storage", "radar"]);
  t.match(radar, /^cluster health +100 /m);
  t.match(radar, /^reliability +\d+/m);
  t.match(JSON.parse(await run(["storage", "radar", "-o", "json"])), { clusterHealth: 100 });
  t.match(await run(["storage", "pools"]), /^images +replicated +3 +2 +64 +host +200 GiB /m);
  t.match(JSON.parse(await run(["storage", "pools", "-o", "json"])), [{ name: "cephfs.data", size: 3 }]);
  t.match(await run(["storage", "osds"]), /^5 +up, in +sandbox-ceph-3 +ssd +1 +150 GiB +1 TiB /m);
  t.match(JSON.parse(await run(["storage", "osds", "-o", "json"])), [{ id: 0, up: true, in: true }]);
  t.match(await run(["storage", "crashes", "--archived"]), /^ID +AT +DAEMON +HOST +STATE +WHAT\n$/);
  t.match(JSON.parse(await run(["storage", "crashes", "-o", "json"])), []);
  t.match(await run(["storage", "nodes"]), /^sandbox-ceph-1 +ready /m);
  t.match(JSON.parse(await run(["storage", "nodes", "-o", "json"])), [{ status: "RESOURCE_READY" }]);
  t.match(await run(["storage", "resources"]), /^CephCluster +rook-ceph +\S+ +ready /m);
  const resources: { kind: string }[] = JSON.parse(await run(["storage", "resources", "-o", "json"]));
  t.match(resources, [{ kind: "CephCluster" }]);
  t.match(resources.at(-1), { kind: "Deployment" });

  const koor = await run(["storage", "koor"]);
  t.match(koor, /^upgrades +notify\nnodes +3, 24 cores, 96Gi memory, 3Ti storage\n/m);
  t.match(koor, /^ceph +v16\.2\.15/m);
  t.match(JSON.parse(await run(["storage", "koor", "-o", "json"])), { spec: { toolboxEnabled: true } });

  t.match(await refused(["storage", "archive-crash", "none"]), {
    code: 1,
    stdout: "",
    stderr: /^hostplane: crash not found: none\n$/,
  });
  t.match(await refused(["storage", "archive-crash"]), { code: 2, stderr: /missing required argument 'id'/ });
  await stop(gateway);
  t.match(await refused(["storage", "stats"]), {
    code: 1,
    stderr: /no gateway is running .* this command needs one/,
  });
});
