import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { AuditService } from "../../../../gen/hostplane/v1/audit_pb.ts";
import { AuthService } from "../../../../gen/services/auth/auth_pb.ts";
import { adminPassword, startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { type Protocol, protocols } from "../../harness/protocols.ts";

const [connectJson] = protocols as readonly [Protocol];

const cluster = {
  name: "blue",
  k8s_version: "1.35.4",
  control_plane_nodes: { instanceType: "standard", count: 1 },
  worker_node_pools: [{ name: "work", instanceType: "standard", count: 1 }],
};

test("the REST routes manage a cluster as clients of the original expect", async (t) => {
  const { url, log } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const auth = createClient(AuthService, connectJson.createTransport(url));
  const { token } = await auth.login({ username: "admin", password: adminPassword });
  const headers = { authorization: `Bearer ${token}` };

  async function send(method: string, path: string, body?: object) {
    const answer = await fetch(url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    t.equal(answer.headers.get("cache-control"), "no-store", path);
    return { status: answer.status, json: await answer.json() };
  }

  t.match(await send("GET", "/api/v1/version"), {
    status: 200,
    json: { ok: true, version_information: { go_version: /^node / } },
  });
  t.same(await send("GET", "/api/v1/cluster/list"), { status: 200, json: { ok: true } });
  t.same(await send("POST", "/api/v1/cluster", cluster), {
    status: 200,
    json: { ok: true, cluster: { name: "blue", status: "PROVISIONING" } },
  });
  t.match(await send("POST", "/api/v1/cluster", cluster), {
    status: 409,
    json: { code: 6, error: /blue/, message: /blue/ },
  });
  const { status, json } = await send("GET", "/api/v1/cluster?name=blue");
  t.equal(status, 200);
  const { kubeconfig } = (json as { cluster: { kubeconfig: string } }).cluster;
  t.match(kubeconfig, /client-key-data/);
  t.match(await send("GET", "/api/v1/cluster/list"), { json: { clusters: [{ name: "blue" }] } });
  t.match(await send("GET", "/api/v1/cluster/nodesstatus?clusterName=blue"), {
    status: 200,
    json: { Name: "blue" },
  });
  const gpus = { name: "gpus", instanceType: "gpu", count: 1 };
  const added = await send("POST", "/api/v1/cluster/pool", {
    clusterName: "blue",
    worker_node_pools: [gpus, { ...gpus, name: "more" }],
  });
  t.same(added, { status: 200, json: { ok: true } });
  t.same(
    await send("PUT", "/api/v1/cluster/pool", {
      clusterName: "blue",
      node_pools: [{ name: "work", count: 2 }],
    }),
    { status: 200, json: { ok: true } },
  );
  t.match(
    await send("PUT", "/api/v1/cluster/pool", { clusterName: "blue", node_pools: [{ name: "work" }] }),
    { status: 400, json: { code: 3, details: [{ reason: "SCALE_TO_ZERO" }, {}] } },
  );
  const removal = "/api/v1/cluster/pool?clusterName=blue&node_pool_names=gpus&node_pool_names=more";
  t.same(await send("DELETE", removal), { status: 200, json: { ok: true } });
  t.match(await send("DELETE", removal), { status: 404, json: { code: 5 } });
  t.same(await send("GET", "/api/v1/cluster/upgrade?name=blue"), {
    status: 200,
    json: { ok: true, versions: ["1.36.3"] },
  });
  t.match(await send("PUT", "/api/v1/cluster/upgrade", { name: "blue", version: "1.34.8" }), {
    status: 412,
    json: { code: 9, details: [{ reason: "UPGRADE_REFUSED" }] },
  });
  t.same(await send("DELETE", "/api/v1/cluster?name=blue"), {
    status: 200,
    json: { ok: true, status: "Deleting" },
  });
  t.match(await send("GET", "/api/v1/cluster?name=none"), { status: 404, json: { code: 5 } });

  const audit = createClient(AuditService, connectJson.createTransport(url, { headers }));
  const { events } = await audit.listEvents({ rpc: "cnct.kaas.api.Cluster/GetCluster" });
  t.match(events, [
    { actor: "user/admin", resource: "clusters/none" },
    { actor: "user/admin", resource: "clusters/blue" },
  ]);
  const secret = kubeconfig.split("client-key-data:")[1]?.trim().split("\n")[0]?.replaceAll('"', "") ?? "";
  t.ok(secret.length > 100);
  t.notOk(JSON.stringify(log).includes(secret), "it is not in the log");
  const record = JSON.stringify((await audit.listEvents({})).events, (_key, value) =>
    typeof value === "bigint" ? String(value) : value,
  );
  t.notOk(record.includes(secret), "it is not in the audit log");
});
