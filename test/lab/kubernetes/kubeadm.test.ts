import { readFile, writeFile } from "node:fs/promises";
import { type RequestOptions, request } from "node:https";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { test } from "tap";
import { parse as parseYaml } from "yaml";
import {
  type BootstrapToken,
  bootstrapTokenSecretFrom,
  createBootstrapToken,
  formatBootstrapToken,
} from "../../../server/domains/clusters/bootstrap/bootstrap-token.ts";
import { createClusterPki } from "../../../server/domains/clusters/bootstrap/cluster-pki.ts";
import { createKubeadmRenderer } from "../../../server/domains/clusters/bootstrap/kubeadm-renderer.ts";
import { renderKubeconfig } from "../../../server/domains/clusters/bootstrap/kubeconfig.ts";
import { assertLabels } from "../../../server/domains/clusters/bootstrap/node-labels.ts";
import { cluster, nodeOf, pki, ticket, token } from "../../server/domains/clusters/bootstrap/cluster-plan.ts";
import { createKubectl } from "../clusters/kubectl.ts";
import {
  buildKubernetes,
  certify,
  filesOf,
  kubeadm,
  kubeadmConfigOf,
  startKubeadmCluster,
  version,
} from "./kubeadm-cluster.ts";
import { kubernetesSkipReason } from "./kubernetes.ts";
import { buildKubernetesPrograms } from "./kubernetes-programs.ts";

const skip = kubernetesSkipReason();
const renderer = createKubeadmRenderer();

test("kubeadm accepts the machines' configuration", { skip, timeout: 2_400_000 }, async (t) => {
  await buildKubernetes();
  const folder = t.testdir();
  const configPath = join(folder, "kubeadm.yaml");

  await t.test("its own validation accepts all of it, in both forms", async (t) => {
    for (const node of ["1.30.14", "1.35.1", "1.36.3"].map(nodeOf)) {
      for (const text of [
        renderer.renderFirstControlPlane(cluster, node, pki, token),
        renderer.renderControlPlane(cluster, node, pki, ticket),
        renderer.renderWorker(cluster, node, ticket),
      ]) {
        // This kubeadm still reads the older form, but creates no clusters of the older version.
        await writeFile(configPath, kubeadmConfigOf(text).replace(`"v1.30.14"`, `"${version}"`));
        t.equal((await kubeadm("config", "validate", "--config", configPath)).stdout, "ok\n");
      }
    }
    await writeFile(configPath, 'apiVersion: "kubeadm.k8s.io/v1beta4"\nkind: "InitConfiguration"\nx: 1\n');
    await t.rejects(
      kubeadm("config", "validate", "--config", configPath),
      "it rejects an invalid configuration",
    );
  });

  await t.test("it signs with the cluster's keys, and creates none of its own", async (t) => {
    const directory = await certify(t, configPath);
    const created = async (name: string) => readFile(join(directory, name), "utf8");
    t.equal(await created("ca.key"), pki.kubernetesCa.privateKeyPem);
    t.equal(await created("etcd/ca.key"), pki.etcdCa.privateKeyPem);
    t.equal(await created("front-proxy-ca.key"), pki.frontProxyCa.privateKeyPem);
    t.equal(await created("sa.key"), pki.serviceAccount.privateKeyPem);
    t.match(await created("apiserver.crt"), /CERTIFICATE/);
    t.match(await created("etcd/peer.crt"), /CERTIFICATE/);
  });

  await t.test(
    "an API server with these keys accepts the kubeconfig, tokens, kube-vip and labels",
    async (t) => {
      const endpoint = await startKubeadmCluster(t, await certify(t, configPath));
      const program = join(await buildKubernetesPrograms("1.36.3", ["kubectl"]), "kubectl");
      const kubectlOf = (name: string, { admin }: typeof pki) => {
        const text = renderKubeconfig("prod", endpoint, pki.kubernetesCa.certificatePem, admin);
        return createKubectl(program, join(folder, name), text);
      };
      const kubectl = await kubectlOf("kubeconfig", pki);
      const reviews = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
      const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
      const { status } = JSON.parse(await kubectl("auth", "whoami", "-o", "json"));
      t.equal(status.userInfo.username, "kubernetes-admin");
      t.match(status.userInfo.groups, ["system:masters", "system:authenticated"]);

      const other = await kubectlOf("other", await createClusterPki(Date.now()));
      await t.rejects(other("get", "nodes"), /logged in/, "the owner of another cluster has no access");

      const know = async (known: BootstrapToken) => {
        const secret = join(folder, `${known.id}.json`);
        await writeFile(secret, JSON.stringify(bootstrapTokenSecretFrom(known, "a test")));
        await kubectl("create", "-f", secret);
        const headers = { authorization: `Bearer ${formatBootstrapToken(known)}` };
        return post(endpoint.port, reviews, review, { headers });
      };
      const live = createBootstrapToken(Date.now(), 3_600_000);
      const { statusCode, body } = await know(live);
      t.equal(statusCode, 201);
      t.equal(body.status?.userInfo.username, `system:bootstrap:${live.id}`);
      t.ok(body.status?.userInfo.groups.includes("system:bootstrappers:kubeadm:default-node-token"));
      t.equal(
        (await know(createBootstrapToken(Date.now() - 7_200_000, 3_600_000))).statusCode,
        401,
        "expired",
      );

      await kubectl("create", "serviceaccount", "app");
      const accountToken = (await kubectl("create", "token", "app")).trim();
      const headers = { authorization: `Bearer ${accountToken}` };
      const asAccount = await post(endpoint.port, reviews, review, { headers });
      t.equal(asAccount.body.status?.userInfo.username, "system:serviceaccount:default:app");

      const machine = filesOf(renderer.renderFirstControlPlane(cluster, nodeOf("1.36.3"), pki, token));
      const kubeVip = parseYaml(machine.find(({ path }) => path.endsWith("/kube-vip.yaml"))?.content ?? "");
      const pods = "/api/v1/namespaces/kube-system/pods?dryRun=All&fieldValidation=Strict";
      const asOwner = { cert: pki.admin.certificatePem, key: pki.admin.privateKeyPem };
      t.equal((await post(endpoint.port, pods, kubeVip, asOwner)).statusCode, 201);
      const misspelt = { ...kubeVip, spec: { ...kubeVip.spec, hostNetworks: true } };
      t.equal(
        (await post(endpoint.port, pods, misspelt, asOwner)).statusCode,
        400,
        "the API server rejects unknown fields",
      );

      const labels = ["a", "A.b_c-9", "example.com/team", "a".repeat(63), "topology.kubernetes.io/zone"].map(
        (name) => ({ name, value: "A.b_c-9" }),
      );
      assertLabels(labels, "labels");
      const all = Object.fromEntries(labels.map(({ name, value }) => [name, value]));
      const file = join(folder, "node.json");
      await writeFile(
        file,
        JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: "node1", labels: all } }),
      );
      await kubectl("create", "-f", file);
    },
  );
});

interface Review {
  readonly status?: { readonly userInfo: { readonly username: string; readonly groups: readonly string[] } };
}

/** Posts to the API server. @param credentials of the caller */
async function post(port: number, path: string, body: object, credentials: RequestOptions) {
  const ca = pki.kubernetesCa.certificatePem;
  const sent = request({ ca, host: "127.0.0.1", port, method: "POST", path, ...credentials });
  sent.setHeader("content-type", "application/json");
  const answered = Promise.withResolvers<{ readonly statusCode: number; readonly body: Review }>();
  sent.on("error", answered.reject);
  sent.on("response", async (response) => {
    const answer = (await json(response)) as Review;
    answered.resolve({ statusCode: response.statusCode ?? 0, body: answer });
  });
  sent.end(JSON.stringify(body));
  return answered.promise;
}
