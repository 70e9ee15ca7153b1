import fc from "fast-check";
import { test } from "tap";
import { isWatchEvent, listFromReply } from "../../../adapters/kubernetes/answered-objects.ts";

test("any reply is a list of named objects or is rejected", async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.record({ items: fc.jsonValue() })), (reply) => {
      for (const { metadata } of listFromReply(reply)?.items ?? []) {
        if (typeof metadata?.name !== "string" || metadata.name === "") {
          throw new Error("an object without a name");
        }
      }
    }),
  );
  t.strictSame(listFromReply({ kind: "List", items: [{ metadata: { name: "a" } }] }), {
    kind: "List",
    items: [{ metadata: { name: "a" } }],
  });
});

test("watch events are followed only if they identify their object", async (t) => {
  const types = fc.oneof(
    fc.constantFrom("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(types, fc.jsonValue(), (type, object) => {
      const isNamed = /"metadata":\{.*"(name|resourceVersion)":"/.test(JSON.stringify(object));
      return isNamed || !isWatchEvent(type, object);
    }),
  );
  t.ok(isWatchEvent("DELETED", { metadata: { name: "a" } }));
});
