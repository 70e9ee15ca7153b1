import { test } from "tap";
import { keyTable } from "../../../../dashboard/parts/table/key-table.ts";

test("the first table of a page gets its keys, until another one is used", async (t) => {
  t.equal(keyTable([], undefined), undefined);
  t.equal(keyTable(["osds", "pools"], undefined), "osds");
  t.equal(keyTable(["osds", "pools"], "pools"), "pools");
  t.equal(keyTable(["osds", "pools"], "volumes"), "osds", "a table that is gone gets none");
});
