import { test } from "tap";
import { createTestClusters } from "../clusters-under-test.ts";

test("a machine released right before it is installed is still identified as its slot's", async (t) => {
  const clusters = await createTestClusters(t, { machines: 3 });
  const { maas } = clusters;
  let released: string | undefined;
  clusters.start({
    async boundary(point) {
      // The machine was checked, and is free when the call arrives.
      if (point === "before maas.deploy" && released === undefined) {
        released = (await clusters.state("prod"))?.slots[0]?.systemId ?? "";
        await maas.admin.release(released);
      }
    },
  });
  await clusters.create("prod");
  const { slots } = await clusters.untilRunning("prod");
  t.match(slots, [{ systemId: released, state: "joined" }]);
  const deployed = maas.fake.region.machines().filter(({ status }) => status !== "ready");
  t.match(deployed, [{ systemId: released, annotations: { "hostplane-slot": slots[0]?.uid } }]);
  t.match(deployed[0]?.agentName, slots[0]?.uid);
  t.same(await clusters.differences(), []);
});
