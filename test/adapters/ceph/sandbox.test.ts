import { test } from "tap";
import { cephReasons } from "../../../adapters/ceph/reasons.ts";
import { createCephSandbox } from "../../../adapters/ceph/sandbox.ts";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { okOf } from "../until-state.ts";
import { testCephContract } from "./contract.ts";

testCephContract("sandbox", async () => {
  const times = { watchedMs: 20, idleMs: 100, keepMs: 100 };
  const ceph = createCephSandbox(times);
  const outage = new InfraError(cephReasons.CEPH_UNAVAILABLE, "the monitors do not answer");
  return {
    ceph,
    withoutOperator: createCephSandbox({ ...times, hasOperator: false }),
    stopOsd: ceph.stopOsd,
    startOsd: ceph.startOsd,
    crashOsd: (id) => ceph.crash(`osd.${id}`),
    stopManagers: () => ceph.setManagers(false),
    startManagers: () => ceph.setManagers(true),
    async stopMonitors() {
      await ceph.setOutage(outage);
      await new Promise((resolve) => setTimeout(resolve, 2 * times.keepMs));
    },
    startMonitors: () => ceph.setOutage(undefined),
  };
});

test("during an outage, returns the last state with the reason why there is no newer one", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const before = await ceph.read();
  await ceph.setOutage(new InfraError(cephReasons.CEPH_UNAVAILABLE, "the monitors do not answer"));
  const during = await ceph.read();
  t.equal(during.readAtMs, before.readAtMs);
  t.equal(during.staleBecause, "the monitors do not answer");
  await ceph.setOutage(undefined);
  const after = await ceph.read();
  t.ok(after.readAtMs > before.readAtMs);
  t.equal(after.staleBecause, undefined);
});

test("starts healthy", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  t.strictSame((await ceph.read()).value.health, { status: "HEALTH_OK", checks: [] });
  await ceph.change((state) => ({ ...state, rbdImageCount: { missing: "the OSDs did not answer" } }));
  t.strictSame((await ceph.read()).value.rbdImageCount, { missing: "the OSDs did not answer" });
  await ceph.stopOsd(3);
  await ceph.stopOsd(4);
  const { health, osds } = (await ceph.read()).value;
  t.match(health, { status: "HEALTH_WARN", checks: [{ code: "OSD_DOWN", count: 2 }] });
  t.equal(okOf(osds).osds.filter(({ isUp }) => isUp).length, 4);
});
