import { join } from "node:path";
import { test } from "tap";
import { readPodAccount } from "../../../adapters/kubernetes/pod-account.ts";

test("a pod's account has its CA, and a token that is read for each request", async (t) => {
  const directory = t.testdir({ "ca.crt": "a CA", token: "a token" });
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
  t.match(readPodAccount(env, directory), {
    server: "https://[fd00::1]:6443",
    tls: { ca: "a CA", rejectUnauthorized: true },
    tokenPath: join(directory, "token"),
  });
  t.throws(() => readPodAccount(env, join(directory, "none")), {
    reason: "KUBERNETES_UNAVAILABLE",
    message: /no service account.*ca\.crt/,
  });
});
