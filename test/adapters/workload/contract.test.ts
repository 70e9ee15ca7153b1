import { test } from "tap";
import { createWorkloadSandbox } from "../../../adapters/workload/sandbox.ts";
import { createClientCertificate } from "../../../server/domains/clusters/bootstrap/certificate.ts";
import { passesWorkloadContract, type WorkloadUnderTest } from "./contract.ts";
import { clusterRecipe, createMachinePark } from "./machine-park.ts";

test("the sandbox of clusters", async (t) => {
  const park = createMachinePark();
  const sandbox = await createWorkloadSandbox({ machines: park.machines, joinMs: 0 });
  t.teardown(() => sandbox.close());
  const endpoint = { host: "10.20.0.200", port: 6443 };
  const recipe = await clusterRecipe("prod", endpoint);
  const stranger = await clusterRecipe("prod", endpoint);
  park.install("node-1", recipe.init("node-1", "1.36.3"));
  park.install("node-2", recipe.joinWorker("node-2"));
  park.install("node-3", recipe.joinWorker("node-3"));
  const cluster = () => {
    const found = sandbox.fake.cluster("prod");
    if (found === undefined) {
      throw new Error("the cluster is not there");
    }
    return found;
  };
  let machineCount = 0;
  const nobody = await createClientCertificate(
    recipe.pki.kubernetesCa,
    { commonName: "nobody", organization: "nobodies" },
    { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 60_000) },
  );

  const subject: WorkloadUnderTest = {
    workload: sandbox,
    access: recipe.access,
    strangerAccess: { ...stranger.access, caCertificatePem: recipe.access.caCertificatePem },
    nobodyAccess: {
      ...recipe.access,
      clientCertificatePem: nobody.certificatePem,
      clientKeyPem: nobody.privateKeyPem,
    },
    otherCaPem: stranger.access.caCertificatePem,
    nodes: ["node-2", "node-3"],
    async setNotReady(name, reason, message) {
      const node = cluster().nodes.get(name);
      if (node !== undefined) {
        node.notReady = { reason, message };
      }
    },
    async silence(name) {
      park.release(name);
    },
    async addPod(node, pod) {
      cluster().pods.add({ node, ...pod, terminationMs: Number.POSITIVE_INFINITY });
    },
    async setProtected(namespace, name, isProtected) {
      const words = "The disruption budget web needs 1 healthy pods and has 1 currently";
      cluster().pods.setBudget(`${namespace}/${name}`, isProtected ? words : undefined);
    },
    async endLeavingPods(node) {
      cluster().pods.endLeaving(node);
    },
    async isTokenGood(token) {
      machineCount += 1;
      const name = `joining-${machineCount}`;
      park.install(name, recipe.joinWorker(name, token));
      const isNode = cluster().nodes.delete(name);
      park.release(name);
      return isNode;
    },
    async versions() {
      const { config, proxy } = cluster();
      const [, configured = ""] =
        /^kubernetesVersion: "(.*)"$/m.exec(config.data.ClusterConfiguration ?? "") ?? [];
      return { configured, proxyImage: proxy?.image ?? "", strategy: proxy?.updateStrategy ?? "" };
    },
    bindings: async () => [...cluster().bindings],
    deleteBinding: async (name) => void cluster().bindings.delete(name),
  };
  await passesWorkloadContract(t, subject);
});
