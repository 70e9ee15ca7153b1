import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Test, test } from "tap";
import { createKubernetes } from "../../../adapters/kubernetes/kubernetes.ts";
import { sandboxManifests } from "../../../adapters/kubernetes/sandbox-cluster.ts";
import { createAuthority } from "../../server/rpc/listener/authority.ts";
import { okOf, until } from "../until-state.ts";
import { startFakeApiServer } from "./fake-api-server.ts";
import { type KubeconfigFor, kubeconfigFor } from "./kubeconfig.ts";

async function startTlsServer(t: Test) {
  const authority = await createAuthority(t, "a cluster's authority");
  const server = await authority.issue("/CN=kube-apiserver", "subjectAltName = IP:127.0.0.1");
  const tls = { ...server, ca: authority.cert };
  const fake = await startFakeApiServer(sandboxManifests(Date.now(), "rook-ceph"), "rook-ceph", tls);
  t.teardown(() => fake.stop());
  return { fake, authority };
}

function connect(t: Test, config: KubeconfigFor) {
  const kubeconfigPath = join(t.testdir(), "kubeconfig");
  writeFileSync(kubeconfigPath, kubeconfigFor(config));
  const kubernetes = createKubernetes({ kubeconfigPath, heartbeatMs: 50, patienceMs: 5_000 });
  t.teardown(() => kubernetes.close());
  return kubernetes;
}

test("a client certificate is accepted, and also authenticates watches", async (t) => {
  const { fake, authority } = await startTlsServer(t);
  const client = await authority.issue("/CN=hostplane");
  const kubernetes = connect(t, { url: fake.url, ca: authority.cert, client });
  await kubernetes.read();
  fake.remove("blockPools", "images");
  await until(t, kubernetes, ({ blockPools }) => okOf(blockPools).length === 0);
});

test("rejects a client certificate of another CA, and a server certificate that is not the cluster's", async (t) => {
  const { fake, authority } = await startTlsServer(t);
  const other = await createAuthority(t, "another authority");
  const stranger = connect(t, {
    url: fake.url,
    ca: authority.cert,
    client: await other.issue("/CN=hostplane"),
  });
  await t.rejects(stranger.read(), {
    reason: "KUBERNETES_DENIED",
    message: /denies the gateway access: https:\/\/127\.0\.0\.1:\d+ as hostplane/,
  });
  const mistrustful = connect(t, { url: fake.url, ca: other.cert, token: fake.token });
  await t.rejects(mistrustful.read(), {
    reason: "KUBERNETES_DENIED",
    message: /certificate of Kubernetes is not trusted \([A-Z_]+\)/,
  });
});

test("rejects a server certificate for another name", async (t) => {
  const { fake, authority } = await startTlsServer(t);
  const url = fake.url.replace("127.0.0.1", "localhost");
  const kubernetes = connect(t, { url, ca: authority.cert, token: fake.token });
  await t.rejects(kubernetes.read(), { reason: "KUBERNETES_DENIED", message: /ALTNAME/ });
});
