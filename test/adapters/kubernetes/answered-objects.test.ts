import fc from "fast-check";
import { test } from "tap";
import { listFromReply, watchEventFromLine } from "../../../adapters/kubernetes/answered-objects.ts";

test("any reply is a list of named objects or is rejected", async (t) => {
  const metadata = { resourceVersion: "7" };
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ metadata: fc.constant(metadata), items: fc.jsonValue() })),
      (reply) => {
        for (const { metadata } of listFromReply(reply)?.items ?? []) {
          if (typeof metadata.name !== "string" || metadata.name === "") {
            throw new Error("an object without a name");
          }
        }
      },
    ),
  );
  const object = { kind: "Pod", metadata: { name: "a", labels: { app: "b" } }, spec: { x: 1 } };
  t.strictSame(listFromReply({ kind: "List", metadata, items: [object] }), { metadata, items: [object] });
  t.equal(listFromReply({ kind: "List", metadata: {}, items: [object] }), undefined, "without a version");
});

test("watch events are followed only if they identify their object", async (t) => {
  const types = fc.oneof(
    fc.constantFrom("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(types, fc.jsonValue(), (type, object) => {
      const isNamed = /"metadata":\{.*"(name|resourceVersion)":"/.test(JSON.stringify(object));
      return isNamed || watchEventFromLine(JSON.stringify({ type, object })) === undefined;
    }),
  );
  fc.assert(
    fc.property(fc.string(), (line) => watchEventFromLine(line) === undefined || line.includes("metadata")),
  );
  const event = { type: "DELETED", object: { metadata: { name: "a", resourceVersion: "8" }, spec: {} } };
  t.strictSame(watchEventFromLine(JSON.stringify(event)), event);
});
