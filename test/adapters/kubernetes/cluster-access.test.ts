import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "tap";
import { createClusterAccess } from "../../../adapters/kubernetes/cluster-access.ts";
import { failureFrom } from "../../../adapters/kubernetes/errors.ts";
import { startServer } from "./cluster-under-test.ts";
import { kubeconfigFor } from "./kubeconfig.ts";

test("authentication that hangs counts as a missing reply", async (t) => {
  const directory = t.testdir();
  const kubeconfigPath = join(directory, "kubeconfig");
  const tokenFile = join(directory, "token");
  // Opening a pipe waits for its writer.
  execFileSync("mkfifo", [tokenFile]);
  writeFileSync(kubeconfigPath, kubeconfigFor({ url: "http://127.0.0.1:1", tokenFile: "token" }));
  const access = createClusterAccess({ kubeconfigPath, context: undefined, patienceMs: 20 });
  access.load();
  const error = await access.getJson("/version").catch((failure: unknown) => failure);
  // Ends the read, which otherwise keeps the process.
  writeFileSync(tokenFile, "");
  const heartbeat = { verb: "get", what: "/version", access: access.describe() } as const;
  t.match(failureFrom(error, heartbeat), {
    kind: "away",
    error: { reason: "KUBERNETES_UNAVAILABLE", message: /does not answer in time/ },
  });
});

const request = { verb: "list", what: "nodes", access: "https://127.0.0.1 as hostplane" } as const;
const secret = "eyJhbGciOi.of-the-account";

test("an error shows its code, and its message only reaches the log", async (t) => {
  const errors = [
    new Error(secret),
    secret,
    new Error("spawn", { cause: new Error(secret) }),
    Object.assign(new Error(secret), { code: secret }),
    Object.assign(new Error(secret), { statusCode: 500 }),
    new SyntaxError(`Unexpected token in ${secret}`),
  ];
  for (const cause of errors) {
    const { error } = failureFrom(cause, request);
    t.notMatch(error.message, secret);
    t.equal(error.cause, cause);
  }
  const refused = new Error("fetch failed", {
    cause: Object.assign(new Error(secret), { code: "ECONNREFUSED" }),
  });
  t.match(failureFrom(refused, request).error.message, /^Kubernetes cannot be reached \(ECONNREFUSED\)/);
});

test("a user with a credential program is rejected, and the previous configuration stays", async (t) => {
  const marker = join(t.testdir(), "was-run");
  const kubeconfigPath = join(t.testdir(), "kubeconfig");
  const text = kubeconfigFor({ url: "http://127.0.0.1:1", token: "a" });
  writeFileSync(kubeconfigPath, text);
  const access = createClusterAccess({ kubeconfigPath, context: undefined, patienceMs: 1_000 });
  access.load();
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "touch", args: [marker] };
  const helper = { "cmd-path": "touch", "cmd-args": marker };
  for (const user of [{ exec }, { "auth-provider": { name: "gcp", config: helper } }]) {
    const config = JSON.parse(text);
    writeFileSync(kubeconfigPath, JSON.stringify({ ...config, users: [{ name: "hostplane", user }] }));
    t.throws(() => access.load(), {
      reason: "KUBERNETES_DENIED",
      message: /kubeconfig has a user hostplane.*service account token or a client certificate/,
    });
    t.equal(access.describe(), "http://127.0.0.1:1 as hostplane");
    await access.getJson("/version").catch(() => {});
    t.notOk(existsSync(marker), "nothing is run");
  }
});

test("a token file is read for each request", async (t) => {
  const server = await startServer(t);
  const directory = t.testdir({ token: `${server.token}\n` });
  const kubeconfigPath = join(directory, "kubeconfig");
  writeFileSync(kubeconfigPath, kubeconfigFor({ url: server.url, tokenFile: "token" }));
  const access = createClusterAccess({ kubeconfigPath, context: undefined, patienceMs: 60_000 });
  t.teardown(() => access.close());
  access.load();
  t.match(await access.getJson("/version"), { gitVersion: "v1.36.3" });
  server.setToken("another");
  await t.rejects(access.getJson("/version"), Object.assign(new Error(), { statusCode: 401 }));
  writeFileSync(join(directory, "token"), "another");
  t.match(await access.getJson("/version"), { gitVersion: "v1.36.3" });
});

test("requests take the proxy of the kubeconfig", async (t) => {
  const server = await startServer(t);
  const requested: string[] = [];
  const proxy = createServer((request, response) => {
    requested.push(request.url ?? "");
    response.end('{"gitVersion": "through the proxy"}');
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.teardown(() => proxy.close());
  const { port } = proxy.address() as AddressInfo;
  const config = JSON.parse(kubeconfigFor({ url: server.url, token: server.token }));
  config.clusters[0].cluster["proxy-url"] = `http://127.0.0.1:${port}`;
  const kubeconfigPath = join(t.testdir(), "kubeconfig");
  writeFileSync(kubeconfigPath, JSON.stringify(config));
  const access = createClusterAccess({ kubeconfigPath, context: undefined, patienceMs: 60_000 });
  t.teardown(() => access.close());
  access.load();
  t.same(await access.getJson("/version"), { gitVersion: "through the proxy" });
  t.same(requested, [`${server.url}/version`]);
});
