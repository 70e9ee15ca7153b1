import { test } from "tap";
import type { WorkloadAccess, WorkloadAdapter } from "../../../adapters/workload/adapter.ts";
import { createDeferredWorkload } from "../../../adapters/workload/deferred-workload.ts";
import { createWorkload } from "../../../adapters/workload/workload.ts";

const access: WorkloadAccess = {
  host: "127.0.0.1",
  // Nothing listens there: only root may bind it, and has no use for it.
  port: 1,
  caCertificatePem: "",
  clientCertificatePem: "",
  clientKeyPem: "",
};

test("the adapter of clusters is created at the first request, once", async (t) => {
  let createdCount = 0;
  const requests: string[] = [];
  const deferred = createDeferredWorkload("sandbox", async () => {
    createdCount += 1;
    const real = createWorkload();
    const adapter: WorkloadAdapter = {
      ...real,
      connect: (to) => ({
        ...real.connect(to),
        version: async () => {
          requests.push(to.host);
          return "1.36.3";
        },
      }),
    };
    return adapter;
  });
  t.equal(deferred.kind, "sandbox");
  const [one, other] = [deferred.connect(access), deferred.connect({ ...access, host: "127.0.0.2" })];
  await deferred.connect(access).close();
  t.equal(createdCount, 0);
  t.same(await Promise.all([one.version(), one.version(), other.version()]), ["1.36.3", "1.36.3", "1.36.3"]);
  t.equal(createdCount, 1);
  t.same(requests.toSorted(), ["127.0.0.1", "127.0.0.1", "127.0.0.2"]);
  await one.close();
  await deferred.close();
});

test("a deferred cluster has every method of the real one", async (t) => {
  const real = createWorkload();
  const methods = Object.keys(real.connect(access)).toSorted();
  t.same(Object.keys(createDeferredWorkload("real", async () => real).connect(access)).toSorted(), methods);
  await real.close();
});

test("a failed creation is retried, and close creates nothing", async (t) => {
  let createdCount = 0;
  const deferred = createDeferredWorkload("sandbox", async () => {
    createdCount += 1;
    throw new Error(`no port ${createdCount}`);
  });
  const cluster = deferred.connect(access);
  await t.rejects(cluster.nodes(), /no port 1/);
  await t.rejects(cluster.nodes(), /no port 2/);
  await createDeferredWorkload("sandbox", () => Promise.reject(new Error("never"))).close();
});
