import { test } from "tap";
import { cephReasons } from "../../../../../adapters/ceph/reasons.ts";
import { createCephSandbox } from "../../../../../adapters/ceph/sandbox.ts";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { createCephFigures } from "../../../../../server/domains/storage/monitoring/figures.ts";

const { signal } = new AbortController();

test("figures that Ceph does not report are absent, and none are read from an old state", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const source = createCephFigures(ceph);
  const figures = async () =>
    Object.fromEntries(
      ((await source.read(signal))[0]?.figures ?? []).map(({ name, value }) => [name, value]),
    );
  const whole = await figures();
  t.match(whole, { client_read: 853, client_write: 0, recovery: 0, osds: 6, osds_up: 6, osds_in: 6 });
  await ceph.stopOsd(2);
  t.equal((await figures()).osds_up, 5);
  await ceph.setManagers(false);
  const missing = await figures();
  t.notOk("used" in missing || "client_read" in missing || "recovery" in missing, "unknown is not 0");
  t.equal(missing.osds, 6);
  await ceph.setOutage(new InfraError(cephReasons.CEPH_UNAVAILABLE, "no monitor answers"));
  await t.rejects(source.read(signal), { message: "no monitor answers" });
});

test("sampling does not make Ceph be read more often", async (t) => {
  const reads: unknown[] = [];
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const source = createCephFigures({
    read: (each, reader) => {
      reads.push(reader);
      return ceph.read(each, reader);
    },
  });
  await source.read(signal);
  t.same(reads, [{ isWatching: false }]);
});
