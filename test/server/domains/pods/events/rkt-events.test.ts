import fc from "fast-check";
import { test } from "tap";
import { rktEventFrom } from "../../../../../server/domains/pods/events/rkt-events.ts";

test("any event is either converted or omitted", async (t) => {
  fc.assert(
    fc.property(fc.constantFrom("pod.created", "image.added", "gap"), fc.jsonValue(), (type, payload) => {
      const events = rktEventFrom({ type, payload });
      return events === undefined || events.event.from !== "" || events.event.id === "";
    }),
  );
  t.equal(rktEventFrom({ type: "pod.sneezed", payload: {} }), undefined);
});
