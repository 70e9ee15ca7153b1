import { test } from "tap";
import { cephReasons } from "../../../../../adapters/ceph/reasons.ts";
import { createCephSandbox } from "../../../../../adapters/ceph/sandbox.ts";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { createKubernetesSandbox } from "../../../../../adapters/kubernetes/sandbox.ts";
import {
  createCephBackend,
  createKubernetesBackend,
} from "../../../../../server/domains/storage/monitoring/backend.ts";

test("Ceph is ok while all parts can be read, whatever its health checks", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const backend = createCephBackend(ceph);
  t.match(backend, { domain: "storage", name: "ceph", kind: "sandbox" });
  t.match(await backend.status(), { health: "ok", version: "16.2.15", missing: [], snapshotAgeMs: Number });
  let notifications = 0;
  t.teardown(
    backend.subscribe(() => {
      notifications += 1;
    }),
  );
  await ceph.stopOsd(1);
  t.equal(notifications, 1);
  t.match(await backend.status(), { health: "ok", missing: [] });
});

test("unreadable parts are listed with their reason", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const backend = createCephBackend(ceph);
  await ceph.read();
  await ceph.setManagers(false);
  await ceph.change((state) => ({ ...state, rbdImageCount: { missing: "OSDs take their time" } }));
  t.match(await backend.status(), {
    health: "degraded",
    missing: [
      "data.pools.pgs, data.objects, data.usage, data.volumes, iops, recovery, crashes, usage of OSDs, scrubs: no manager is active",
      "data.volumes: OSDs take their time",
    ],
  });
});

test("Ceph is degraded with a stale state, and unavailable without a state", async (t) => {
  const outage = new InfraError(cephReasons.CEPH_UNAVAILABLE, "the monitors do not answer");
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const backend = createCephBackend(ceph);
  await ceph.read();
  await ceph.setOutage(outage);
  t.match(await backend.status(), { health: "degraded", missing: ["the monitors do not answer"] });

  // With `keepMs: 0` every state is too old.
  const forgetful = createCephSandbox({ keepMs: 0 });
  t.teardown(() => forgetful.close());
  await forgetful.setOutage(outage);
  t.match(await createCephBackend(forgetful).status(), {
    health: "unavailable",
    missing: ["the monitors do not answer"],
    snapshotAgeMs: undefined,
  });
});

test("a slow version query does not delay the status", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const { promise, resolve } = Promise.withResolvers<{ version: string; findings: [] }>();
  let requestCount = 0;
  const inspect = () => {
    requestCount += 1;
    return promise;
  };
  const backend = createCephBackend({ ...ceph, inspect });
  t.match(await backend.status(), { health: "ok", version: undefined });
  resolve({ version: "18.2.0", findings: [] });
  t.match(await backend.status(), { health: "ok", version: "18.2.0" });
  await backend.status();
  t.equal(requestCount, 1);
});

test("the version is queried again after a while, and when another manager becomes active", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  let requestCount = 0;
  const inspect = async () => {
    requestCount += 1;
    return { version: `17.2.${requestCount}`, findings: [] };
  };
  const backend = createCephBackend({ ...ceph, inspect });
  t.match(await backend.status(), { version: "17.2.1" });
  t.match(await backend.status(), { version: "17.2.1" });
  await ceph.change((state) =>
    "ok" in state.mgrs ? { ...state, mgrs: { ok: { ...state.mgrs.ok, active: "another" } } } : state,
  );
  t.match(await backend.status(), { version: "17.2.2" });
  t.match(await backend.status(), { version: "17.2.2" });
  const forgetful = createCephBackend({ ...ceph, inspect }, 0);
  t.match(await forgetful.status(), { version: "17.2.3" });
  t.match(await forgetful.status(), { version: "17.2.4" });
});

test("Kubernetes is degraded without a permission, but not without KoorClusters", async (t) => {
  const kubernetes = createKubernetesSandbox();
  t.teardown(() => kubernetes.close());
  const backend = createKubernetesBackend(kubernetes);
  t.match(await backend.status(), { health: "ok", version: /^v1\./, missing: [] });
  kubernetes.setMissing("koorClusters", "the kind is not installed");
  t.match(await backend.status(), { health: "ok", missing: ["KoorClusters: the kind is not installed"] });
  kubernetes.setMissing("nodes", "may not list nodes");
  t.match(await backend.status(), { health: "degraded" });
});
