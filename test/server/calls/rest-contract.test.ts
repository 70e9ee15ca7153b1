import * as fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { Cluster, ClusterStatus } from "../../../gen/cnct/kaas/api/api_pb.ts";
import { domainReasons } from "../../../server/domain/reasons.ts";
import {
  registerRefusal,
  registerService,
  type ServiceHandlers,
} from "../../../server/rpc/call/service-handlers.ts";
import { startAppUnderTest } from "../harness/app-under-test.ts";
import { requestHttp1, requestOver } from "../harness/raw-request.ts";

/** Records the handlers' requests, and returns answers with every type of field. */
function createCluster(): {
  readonly requests: unknown[];
  readonly handlers: ServiceHandlers<typeof Cluster>;
} {
  const requests: unknown[] = [];
  const answers =
    <A>(answer: A) =>
    async (request: object) => {
      requests.push({ ...request, $typeName: undefined });
      return answer;
    };
  const item = { name: "blue", statusMessage: "being made", status: ClusterStatus.PROVISIONING };
  return {
    requests,
    handlers: {
      createCluster: answers({ ok: true, cluster: item }),
      getCluster: answers({ ok: true, cluster: { name: "blue", kubeconfig: "a secret" } }),
      deleteCluster: answers({ ok: true, status: "Deleted" }),
      getClusterList: answers({ ok: false, clusters: [] }),
      getClusterNodesStatus: answers({
        Name: "blue",
        count: 1,
        machines: [{ k8sNodeStatus: "ReadyMachine", maasIPAddr: "192.0.2.7" }],
      }),
      getVersionInformation: answers({ ok: true, versionInformation: { gitVersion: "1.0" } }),
      addNodePool: answers({ ok: true }),
      deleteNodePool: answers({ ok: true }),
      scaleNodePool: answers({ ok: true }),
      getUpgradeClusterInformation: answers({ versions: ["1.36.3"] }),
      upgradeCluster: answers({}),
    },
  };
}

const pool = { name: "pool", instanceType: "standard", count: 2, labels: [{ name: "a", value: "b" }] };

/** A request of each route as clients of the published API send it, the handler's request, and the answer. */
const rows: readonly (readonly [
  method: string,
  path: string,
  body: object | undefined,
  request: object,
  answer: object,
])[] = [
  [
    "POST",
    "/api/v1/cluster",
    {
      name: "blue",
      k8s_version: "1.36.3",
      control_plane_nodes: { instanceType: "standard", count: 1 },
      worker_node_pools: [pool],
    },
    {
      name: "blue",
      k8sVersion: "1.36.3",
      controlPlaneNodes: { instanceType: "standard", count: 1 },
      workerNodePools: [pool],
    },
    { ok: true, cluster: { name: "blue", status_message: "being made", status: "PROVISIONING" } },
  ],
  [
    "POST",
    "/api/v1/cluster",
    { name: "blue", k8sVersion: "1.36.3", workerNodePools: [] },
    { name: "blue", k8sVersion: "1.36.3" },
    { ok: true },
  ],
  [
    "GET",
    "/api/v1/cluster?name=blue",
    undefined,
    { name: "blue" },
    { ok: true, cluster: { name: "blue", kubeconfig: "a secret" } },
  ],
  ["DELETE", "/api/v1/cluster?name=blue", undefined, { name: "blue" }, { ok: true, status: "Deleted" }],
  ["GET", "/api/v1/cluster/list", undefined, {}, {}],
  [
    "GET",
    "/api/v1/cluster/nodesstatus?clusterName=blue",
    undefined,
    { clusterName: "blue" },
    { Name: "blue", count: 1, machines: [{ k8sNodeStatus: "ReadyMachine", maasIPAddr: "192.0.2.7" }] },
  ],
  ["GET", "/api/v1/version", undefined, {}, { ok: true, version_information: { git_version: "1.0" } }],
  [
    "POST",
    "/api/v1/cluster/pool",
    { clusterName: "blue", worker_node_pools: [pool] },
    { clusterName: "blue", workerNodePools: [pool] },
    { ok: true },
  ],
  [
    "DELETE",
    "/api/v1/cluster/pool?clusterName=blue&node_pool_names=a&node_pool_names=b",
    undefined,
    { clusterName: "blue", nodePoolNames: ["a", "b"] },
    { ok: true },
  ],
  [
    "PUT",
    "/api/v1/cluster/pool",
    { clusterName: "blue", node_pools: [{ name: "a", count: 3 }] },
    { clusterName: "blue", nodePools: [{ name: "a", count: 3 }] },
    { ok: true },
  ],
  ["GET", "/api/v1/cluster/upgrade?name=blue", undefined, { name: "blue" }, { versions: ["1.36.3"] }],
  [
    "PUT",
    "/api/v1/cluster/upgrade",
    { name: "blue", version: "1.37.0" },
    { name: "blue", version: "1.37.0" },
    {},
  ],
];

test("every route of the published API accepts and returns what its clients expect", async (t) => {
  const { requests, handlers } = createCluster();
  const { url, log } = await startAppUnderTest(t, [registerService(Cluster, handlers)]);
  for (const version of ["1.1", "2"] as const) {
    for (const [method, path, body, request, answer] of rows) {
      const sent = { method, path, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      // As `curl -d` sends it.
      const headers = body === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" };
      const received = await requestOver[version](url, { ...sent, headers });
      const name = `${method} ${path} over HTTP/${version}`;
      t.match(
        received,
        { status: 200, headers: { "content-type": "application/json", "cache-control": "no-store" } },
        name,
      );
      t.match(requests.at(-1), request, name);
      const json = JSON.parse(received.body.toString());
      t.match(json, answer, name);
      t.same(
        Object.keys(json),
        path === "/api/v1/cluster" && json.cluster ? ["ok", "cluster"] : Object.keys(answer),
        name,
      );
    }
  }
  t.equal(new Set(log.map(({ rpc }) => rpc)).size, Cluster.methods.length);
  t.same(new Set(log.map(({ protocol }) => protocol)), new Set(["rest"]));
});

test("a mistyped field in a change reaches no handler", async (t) => {
  const { requests, handlers } = createCluster();
  const { url } = await startAppUnderTest(t, [registerService(Cluster, handlers)]);
  const wrong = [
    { method: "DELETE", path: "/api/v1/cluster?nam=blue" },
    { method: "DELETE", path: "/api/v1/cluster/pool?clusterName=blue&nodePoolName=a" },
    // Node's client sends no length by itself for this verb.
    {
      method: "DELETE",
      path: "/api/v1/cluster",
      body: '{"name": "blue"}',
      headers: { "content-length": "16" },
    },
    { method: "POST", path: "/api/v1/cluster?name=blue", body: '{"name": "blue"}' },
    { method: "POST", path: "/api/v1/cluster", body: '{"name": "blue", "k8sversion": "1"}' },
    { method: "PUT", path: "/api/v1/cluster/pool", body: '{"node_pools": [{"cont": 0}]}' },
    { method: "PUT", path: "/api/v1/cluster/pool", body: '{"node_pools": [{"count": "x"}]}' },
    { method: "PUT", path: "/api/v1/cluster/pool", body: "name=blue" },
  ];
  for (const request of wrong) {
    const answer = await requestHttp1(url, request);
    t.equal(answer.status, 400, `${request.method} ${request.path} ${request.body}`);
    t.match(JSON.parse(answer.body.toString()), { code: 3, details: [{ "@type": /ErrorInfo$/ }] });
  }
  t.same(requests, []);
  const read = await requestHttp1(url, { method: "GET", path: "/api/v1/cluster?name=blue&verbose=1" });
  t.match(read, { status: 200, headers: { "hostplane-unknown-fields": "verbose" } });
});

test("what this version does not serve is answered with 501", async (t) => {
  const refusal = () => new InfraError(domainReasons.DOMAIN_NOT_BUILT, "not in this version");
  const { url } = await startAppUnderTest(t, [registerRefusal(Cluster, refusal)]);
  for (const [method, path, body] of rows) {
    const answer = await requestHttp1(url, {
      method,
      path,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    t.equal(answer.status, 501);
    t.match(JSON.parse(answer.body.toString()), {
      error: "not in this version",
      message: "not in this version",
      code: 12,
      details: [{ reason: "DOMAIN_NOT_BUILT" }],
    });
  }
});

test("RPCs and pages next to the routes are unchanged", async (t) => {
  const { handlers } = createCluster();
  const { url } = await startAppUnderTest(t, [registerService(Cluster, handlers)]);
  const rpc = (path: string) =>
    requestHttp1(url, { path, headers: { "content-type": "application/json" }, body: '{"name": "blue"}' });
  for (const path of ["/cnct.kaas.api.Cluster/DeleteCluster", "/api/cnct.kaas.api.Cluster/DeleteCluster"]) {
    t.same(JSON.parse((await rpc(path)).body.toString()), { ok: true, status: "Deleted" });
  }
  const unknown = await rpc("/api/cnct.kaas.api.Cluster/None");
  t.match(JSON.parse(unknown.body.toString()), { code: "unimplemented" });
  const ping = await requestHttp1(url, { method: "GET", path: "/api/ping" });
  t.same(JSON.parse(ping.body.toString()), { message: "Pong" });
  for (const path of ["/api/v1/clusters", "/api/v1/cluster/list/", "/api/v1", "/api/v1/cluster/none/x"]) {
    const answer = await requestHttp1(url, { method: "GET", path });
    t.match(answer, { status: 404, headers: { "content-type": /^text\/plain/ } }, path);
  }
  const wrongVerb = await requestHttp1(url, { path: "/api/v1/cluster/list" });
  t.match(wrongVerb, { status: 405, headers: { allow: "GET", "content-type": /^text\/plain/ } });
});

test("any request below /api/v1 is answered, and causes no fault of the gateway", async (t) => {
  const { handlers } = createCluster();
  const { url, log, openCallCount } = await startAppUnderTest(t, [registerService(Cluster, handlers)]);
  const pieces = [
    "cluster",
    "pool",
    "list",
    "version",
    "?",
    "&",
    "=",
    "name",
    "node_pool_names",
    "/",
    "%",
    "%2F",
    "%ff",
    ":",
  ];
  const path = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.stringMatching(/^[!-~]{1,4}$/)), { maxLength: 8 })
    .map((parts) => `/api/v1/${parts.join("")}`);
  const body = fc.option(fc.oneof(fc.json(), fc.string()), { nil: undefined });
  const method = fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE");
  await fc.assert(
    fc.asyncProperty(method, path, body, async (method, path, body = "") => {
      const headers = { "content-length": String(Buffer.byteLength(body)) };
      const { status } = await requestHttp1(url, { method, path, headers, body });
      return [200, 400, 404, 405].includes(status);
    }),
    { numRuns: 300 },
  );
  t.same(
    log.filter(({ level }) => Number(level) >= 40),
    [],
  );
  t.equal(openCallCount(), 0, "no call is left open");
});
