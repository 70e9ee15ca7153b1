import { test } from "tap";
import { cephReasons } from "../../../../../adapters/ceph/reasons.ts";
import { createCephSandbox } from "../../../../../adapters/ceph/sandbox.ts";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { createCephInspector } from "../../../../../server/domains/storage/doctor/inspect-ceph.ts";

test("doctor reports whether the cluster answers, and the fix if it does not", async (t) => {
  const ceph = createCephSandbox();
  t.teardown(() => ceph.close());
  const inspector = createCephInspector(ceph);
  t.equal(inspector.name, "ceph");
  t.match(await inspector.inspect(), { findings: [{ ok: true }] });
  await ceph.setOutage(new InfraError(cephReasons.CEPH_UNAVAILABLE, "no monitor answers"));
  t.match(await inspector.inspect(), {
    findings: [{ ok: false, what: "no monitor answers", fix: /monitors/ }],
  });
});
