import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { createClusterAccess } from "../../../adapters/kubernetes/cluster-access.ts";
import { failureFrom } from "../../../adapters/kubernetes/errors.ts";
import { kubeconfigFor } from "./kubeconfig.ts";

test("authentication that hangs counts as a missing reply", {
  timeout: 30_000,
}, async (t) => {
  const kubeconfigPath = join(t.testdir(), "kubeconfig");
  writeFileSync(kubeconfigPath, kubeconfigFor({ url: "http://127.0.0.1:1", token: "a" }));
  const access = createClusterAccess({ kubeconfigPath, context: undefined, patienceMs: 20 });
  access.load();
  // Unlike the gateway, this test has nothing else that keeps the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  access.kubeConfig.applySecurityAuthentication = () => new Promise(() => {});
  const error = await access.getJson("/version").catch((failure: unknown) => failure);
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
    t.match(access.kubeConfig.getCurrentUser(), { token: "a" });
    await access.getJson("/version").catch(() => {});
    t.notOk(existsSync(marker), "nothing is run");
  }
});
