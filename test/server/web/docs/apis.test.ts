import { test } from "tap";
import { groupByApi } from "../../../../server/web/docs/apis.ts";
import { readContractServices } from "../../harness/contract-services.ts";

test("every service of the contract belongs to an API with a summary", async (t) => {
  const services = await readContractServices();
  const groups = groupByApi(services);
  t.same(
    groups.map(([{ name }]) => name),
    ["hostplane.v1", "lvmd", "Koor", "IsardVDI", "kaas", "rkt", "CSI", "gRPC"],
  );
  t.ok(groups.every(([{ summary }]) => summary.endsWith(".")));
  t.equal(groups.flatMap(([, ofApi]) => ofApi).length, services.length);
});
