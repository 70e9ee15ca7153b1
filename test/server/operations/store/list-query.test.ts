import { test } from "tap";
import { makeDirectory } from "../../store/store-under-test.ts";
import { plansOfResource } from "./list-plans.ts";

test("SQLite finds the operations of a resource by an index", async (t) => {
  for (const plan of await plansOfResource(t, { url: "sqlite", directory: await makeDirectory(t) })) {
    t.comment(plan);
    t.match(plan, /USING (COVERING )?INDEX operations_resource \(resource=\?/);
    t.match(plan, /USING (COVERING )?INDEX operations_resource \(resource>\? AND resource<\?/);
    t.notMatch(plan, /SCAN operations/);
  }
});
