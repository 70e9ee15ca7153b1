import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "tap";
import { createClusterAccess } from "../../../adapters/kubernetes/cluster-access.ts";
import { failureFrom } from "../../../adapters/kubernetes/errors.ts";
import { kubeconfigFor } from "./kubeconfig.ts";

test("authentication that does not end counts for an answer that does not come", {
  timeout: 30_000,
}, async (t) => {
  const kubeconfigPath = join(t.testdir(), "kubeconfig");
  writeFileSync(kubeconfigPath, kubeconfigFor({ url: "http://127.0.0.1:1", token: "a" }));
  const access = createClusterAccess({ kubeconfigPath, context: undefined, patienceMs: 20 });
  access.load();
  // The gateway has more to stay alive for than a timer of a signal.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  access.kubeConfig.applySecurityAuthentication = () => new Promise(() => {});
  const error = await access.getJson("/version").catch((failure: unknown) => failure);
  const asked = { verb: "get", what: "/version", access: access.describe() } as const;
  t.match(failureFrom(error, asked), {
    kind: "away",
    error: { reason: "KUBERNETES_UNAVAILABLE", message: /does not answer in time/ },
  });
});
