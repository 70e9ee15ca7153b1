import { test } from "tap";
import { operationTitle, resourceTitle } from "../../../../dashboard/parts/text/operation-title.ts";

test("an operation is named by what it does to what", async (t) => {
  const resource = "volumeGroups/vg0/volumes/data";
  t.equal(operationTitle({ kind: "volumes.remove", resource }), "Remove volume data");
  t.equal(operationTitle({ kind: "storagePool.expand", resource: "storagePool" }), "Expand storagePool");
  t.equal(operationTitle({ kind: "volumes.backup", resource }), "Back up volume data");
  t.equal(resourceTitle("images/quay.io/team/app:1"), "image quay.io/team/app:1");
  t.equal(resourceTitle("cephClusters/1/osds/3"), "OSD 3");
  t.equal(resourceTitle("volumeGroups/vg0"), "volume group vg0");
});
