import { test } from "tap";
import { byAge } from "../../../../../../server/domains/clusters/reconcile/plan/leave-order.ts";
import { slotOf } from "./sample-cluster.ts";

test("of workers added at once, the first to allocate its machine counts as the oldest", (t) => {
  const web = ["w-a", "w-b", "w-c"].map((uid, index) =>
    slotOf(uid, { createdAtMs: 1_000, sequence: 3 - index }),
  );
  t.same(
    web.toSorted(byAge).map(({ uid }) => uid),
    ["w-c", "w-b", "w-a"],
  );
  t.end();
});
