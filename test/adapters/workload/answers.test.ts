import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createServingCertificate } from "../../../adapters/workload/fake/serving-certificate.ts";
import { createWorkload } from "../../../adapters/workload/workload.ts";
import { bootstrapTokenSecretFrom } from "../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import { createClusterPki } from "../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { newToken } from "./machine-park.ts";

const pki = await createClusterPki(Date.now());
const authority = {
  certificatePem: pki.kubernetesCa.certificatePem,
  keyPem: pki.kubernetesCa.privateKeyPem,
};

/** Starts a server with the cluster's certificate and arbitrary replies. */
async function startServer(t: Test, listener: RequestListener, name = "127.0.0.1") {
  const server = createServer(await createServingCertificate(authority, "kube-apiserver", [name]), listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const workload = createWorkload();
  t.teardown(async () => {
    await workload.close();
    server.closeAllConnections();
    server.close();
  });
  return workload.connect({
    host: "127.0.0.1",
    port,
    caCertificatePem: pki.kubernetesCa.certificatePem,
    clientCertificatePem: pki.admin.certificatePem,
    clientKeyPem: pki.admin.privateKeyPem,
  });
}

async function errorOf(promise: Promise<unknown>): Promise<InfraError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof InfraError)) {
    throw new Error("no InfraError", { cause: error });
  }
  return error;
}

const page = "<html>token=hidden-secret</html>";

test("replies are mapped to reasons, and no page of a proxy is shown", async (t) => {
  const status = (message: string) => JSON.stringify({ kind: "Status", message });
  const answers: readonly (readonly [number, string, string, RegExp])[] = [
    [200, "no JSON", "WORKLOAD_FAILED", /not JSON/],
    [200, "{}", "WORKLOAD_FAILED", /invalid reply/],
    [200, '{"items":[{"metadata":{}}]}', "WORKLOAD_FAILED", /items.0.metadata.name/],
    [204, "", "WORKLOAD_FAILED", /not JSON/],
    [301, page, "WORKLOAD_FAILED", /answered 301 to list its nodes$/],
    [400, status("no\nsense"), "WORKLOAD_FAILED", /answered 400 to list its nodes: no sense/],
    [401, status("Unauthorized"), "WORKLOAD_DENIED", /rejects the gateway's certificate/],
    [403, status("nodes is forbidden"), "WORKLOAD_DENIED", /list its nodes: nodes is forbidden/],
    [404, page, "WORKLOAD_FAILED", /answered 404 to list its nodes$/],
    [429, status("too many"), "WORKLOAD_UNAVAILABLE", /temporarily cannot list its nodes \(429\): too many/],
    [500, status("boom"), "WORKLOAD_FAILED", /boom/],
    [500, status("etcdserver: leader changed"), "WORKLOAD_UNAVAILABLE", /leader changed/],
    [500, status('rpc error: code = Unavailable desc = "x"'), "WORKLOAD_UNAVAILABLE", /rpc error/],
    [502, page, "WORKLOAD_UNAVAILABLE", /\(502\)$/],
    [503, status(`a ${"k".repeat(80)} b`), "WORKLOAD_UNAVAILABLE", /a … b$/],
    [504, "", "WORKLOAD_UNAVAILABLE", /504/],
  ];
  let next: readonly [number, string] = [200, ""];
  const cluster = await startServer(t, (_, response) => {
    const [statusCode, body] = next;
    response.writeHead(statusCode);
    response.end(statusCode === 204 ? undefined : body);
  });
  for (const [statusCode, body, reason, message] of answers) {
    next = [statusCode, body];
    const error = await errorOf(cluster.nodes());
    t.equal(error.reason, reason, `${statusCode} ${body}`);
    t.match(error.message, message);
    t.notMatch(error.message, /hidden-secret/);
  }
});

test("no reply about a Secret is shown", async (t) => {
  const token = newToken();
  const cluster = await startServer(t, (request, response) => {
    request.resume();
    response.writeHead(422, { "content-type": "application/json" });
    response.end(JSON.stringify({ kind: "Status", message: `Invalid value: "${token.secret}"` }));
  });
  const error = await errorOf(cluster.writeSecret(bootstrapTokenSecretFrom(token, "a test")));
  t.equal(error.reason, "WORKLOAD_FAILED");
  t.notMatch(JSON.stringify([error.message, error.stack, String(error.cause)]), token.secret);
});

test("a server with another name is not trusted", async (t) => {
  const cluster = await startServer(t, (_, response) => response.end("{}"), "127.0.0.2");
  const error = await errorOf(cluster.nodes());
  t.match(error, { reason: "WORKLOAD_UNAVAILABLE", message: /not trusted \(ERR_TLS_CERT_ALTNAME_INVALID\)/ });
});

test("a Secret created meanwhile is replaced, and one deleted meanwhile is an error", async (t) => {
  const requests: string[] = [];
  let statuses: readonly number[] = [];
  const cluster = await startServer(t, (request, response) => {
    request.resume();
    requests.push(`${request.method} ${request.url}`);
    response.writeHead(statuses[requests.length - 1] ?? 500);
    response.end("{}");
  });
  const token = newToken();
  const path = "/api/v1/namespaces/kube-system/secrets";
  statuses = [409, 200];
  await cluster.writeSecret(bootstrapTokenSecretFrom(token, "a test"));
  t.same(requests, [`POST ${path}`, `PUT ${path}/bootstrap-token-${token.id}`]);
  requests.length = 0;
  statuses = [409, 404];
  const error = await errorOf(cluster.writeSecret(bootstrapTokenSecretFrom(token, "a test")));
  t.equal(error.reason, "WORKLOAD_FAILED");
});

test("kubeadm's configuration is written again after a conflict, but not endlessly", async (t) => {
  const data = {
    ClusterConfiguration: 'kind: "ClusterConfiguration"\nkubernetesVersion: "v1.35.4"\nx: 1\n',
    y: "2",
  };
  const written: unknown[] = [];
  let conflicts = 2;
  const cluster = await startServer(t, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (request.url?.includes("daemonsets") === true) {
        response.writeHead(404);
        response.end("{}");
        return;
      }
      const isConflict = request.method === "PUT" && conflicts > 0;
      if (request.method === "PUT") {
        written.push(JSON.parse(Buffer.concat(chunks).toString()));
        conflicts -= 1;
      }
      response.writeHead(isConflict ? 409 : 200);
      response.end(JSON.stringify({ metadata: { name: "kubeadm-config", resourceVersion: "7" }, data }));
    });
  });
  await cluster.setVersion("1.36.3");
  t.equal(written.length, 3);
  const changed = data.ClusterConfiguration.replace("1.35.4", "1.36.3");
  t.match(written[2], {
    metadata: { resourceVersion: "7" },
    data: { ClusterConfiguration: changed, y: "2" },
  });
  conflicts = Number.POSITIVE_INFINITY;
  t.equal((await errorOf(cluster.setVersion("1.37.0"))).reason, "WORKLOAD_FAILED");
  t.equal(written.length, 3 + 5);
});

test("a pod that may not be evicted does not delay the others; an unavailable cluster delays all", async (t) => {
  const names = ["gone", "another", "webhook", "budgets", "closing", "fine"];
  const statuses: Record<string, readonly [number, object]> = {
    gone: [404, {}],
    another: [409, {}],
    webhook: [403, { message: "admission webhook says no" }],
    budgets: [500, { message: "This pod has more than one PodDisruptionBudget" }],
    closing: [403, { message: "no", details: { causes: [{ reason: "NamespaceTerminating" }] } }],
    fine: [201, {}],
  };
  const cluster = await startServer(t, (request, response) => {
    request.resume();
    const [, name = ""] = /\/pods\/(\w+)\/eviction$/.exec(request.url ?? "") ?? [];
    const [statusCode, body] = statuses[name] ?? [200, { items: names.map((each) => podNamed(each)) }];
    response.writeHead(statusCode);
    response.end(JSON.stringify(body));
  });
  const { remaining, blocked } = await cluster.drain("node1");
  t.same(remaining, ["default/webhook", "default/budgets", "default/closing", "default/fine"]);
  t.match(blocked, [
    { pod: "default/webhook", why: /admission webhook says no/ },
    { pod: "default/budgets", why: /more than one PodDisruptionBudget/ },
  ]);
  statuses.fine = [429, { message: "slow down" }];
  t.equal((await errorOf(cluster.drain("node1"))).reason, "WORKLOAD_UNAVAILABLE");
});

function podNamed(name: string) {
  return { metadata: { name, namespace: "default", uid: name }, status: { phase: "Running" } };
}
