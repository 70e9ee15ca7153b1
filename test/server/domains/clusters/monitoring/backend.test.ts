import { type Test, test } from "tap";
import { createMaasSandbox, type MaasSandboxOptions } from "../../../../../adapters/maas/sandbox.ts";
import { createMaasBackend } from "../../../../../server/domains/clusters/monitoring/backend.ts";
import { createClusterImages } from "../../../../../server/domains/clusters/specs/cluster-images.ts";

async function backendOf(t: Test, options: MaasSandboxOptions = {}) {
  const maas = await createMaasSandbox(options);
  t.teardown(() => maas.close());
  return { maas, backend: createMaasBackend(maas, createClusterImages(maas)) };
}

test("a MAAS that answers and has images is healthy and reports its version", async (t) => {
  const { backend } = await backendOf(t);
  t.match(backend, { domain: "clusters", name: "maas", kind: "sandbox" });
  t.match(await backend.status(), { health: "ok", version: "3.4.10", missing: [], snapshotAgeMs: undefined });
});

test("a MAAS without a Kubernetes image is degraded, and the message explains how to name one", async (t) => {
  const { backend } = await backendOf(t, { images: [{ name: "ubuntu/noble", type: "Synced" }] });
  t.match(await backend.status(), {
    health: "degraded",
    missing: [/^MAAS has no Kubernetes image: .*os=ubuntu-noble,k8s=/],
  });
});

test("a MAAS that does not answer is unavailable within seconds", async (t) => {
  const { maas, backend } = await backendOf(t, { readPatienceMs: 500 });
  maas.fake.setOutage(true);
  t.match(await backend.status(), { health: "unavailable", version: undefined, missing: [/./] });
});
