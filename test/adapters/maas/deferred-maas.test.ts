import { test } from "tap";
import { createDeferredMaas } from "../../../adapters/maas/deferred-maas.ts";
import { createMaasSandbox } from "../../../adapters/maas/sandbox.ts";

const as = { kind: "sandbox", url: "http://sandbox.invalid/MAAS" } as const;

test("a deferred MAAS is created at the first call, once, and has the given kind and URL", async (t) => {
  let createdCount = 0;
  const maas = createDeferredMaas(as, () => {
    createdCount += 1;
    return createMaasSandbox();
  });
  t.match(maas, as);
  t.equal(createdCount, 0);
  const [machines, { username }] = await Promise.all([maas.machines(), maas.whoami()]);
  t.equal(machines.length, 8);
  t.equal(username, "sandbox");
  t.equal(createdCount, 1);
  await t.rejects(maas.machine("mmmmmm"), { name: "InfraError", reason: "MACHINE_NOT_FOUND" });
  await maas.close();
  await t.rejects(maas.whoami(), { name: "InfraError", reason: "MAAS_UNAVAILABLE" });
});

test("a deferred MAAS has every method of the real one", async (t) => {
  const real = await createMaasSandbox();
  const { fake: _fake, admin: _admin, other: _other, ...methods } = real;
  t.same(Object.keys(createDeferredMaas(as, async () => real)).toSorted(), Object.keys(methods).toSorted());
  await real.close();
});

test("a failed creation is retried at the next call, and close creates nothing", async (t) => {
  let createdCount = 0;
  const maas = createDeferredMaas(as, async () => {
    createdCount += 1;
    if (createdCount === 1) {
      throw new Error("no port");
    }
    return createMaasSandbox();
  });
  await t.rejects(maas.whoami(), /no port/);
  t.match(await maas.whoami(), { username: "sandbox" });
  await maas.close();
  await createDeferredMaas(as, () => Promise.reject(new Error("never"))).close();
});
