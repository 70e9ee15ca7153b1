import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import { EventFilterSchema, EventType } from "../../../../../gen/v1alpha/api_pb.ts";
import { parseListenRequest } from "../../../../../server/domains/pods/events/listen-request.ts";
import { rpcErrorOf } from "../../../harness/rpc-error.ts";
import type { Filter } from "./listener-under-test.ts";
import { startPodEvents } from "./pod-events-under-test.ts";

test("an invalid filter is rejected with its field", async (t) => {
  const lab = await startPodEvents(t);
  const errorOf = async (filter: NonNullable<Filter>) => {
    const [first] = [lab.publicApi.listenEvents({ filter })[Symbol.asyncIterator]()];
    return rpcErrorOf(first?.next() ?? Promise.resolve());
  };
  const refused = (field: string) => ({ code: "INVALID_ARGUMENT", reason: "INVALID_FIELD", fields: [field] });
  t.match(await errorOf({ sinceTime: -1n }), refused("filter.since_time"));
  t.match(await errorOf({ untilTime: 2n ** 62n }), refused("filter.until_time"));
  t.match(await errorOf({ sinceTime: 9n, untilTime: 9n }), refused("filter.until_time"));
  t.match(await errorOf({ types: [EventType.POD_STARTED, 99 as EventType] }), refused("filter.types[1]"));
  t.match(await errorOf({ types: [EventType.UNDEFINED] }), refused("filter.types[0]"));
  t.match(await errorOf({ ids: Array.from({ length: 1_001 }, () => "x") }), refused("filter.ids"));
  t.match(await errorOf({ names: [""] }), refused("filter.names[0]"));
});

test("image ids may have a digest prefix and uppercase letters", async (t) => {
  const { ids } = parseListenRequest(create(EventFilterSchema, { ids: ["sha256:0AB", "0cd"] }));
  t.strictSame([...ids], ["0ab", "0cd"]);
});

test("any filter is either parsed or rejected with a field", async () => {
  fc.assert(
    fc.property(
      fc.record({
        types: fc.array(fc.integer({ min: -2, max: 12 })),
        ids: fc.array(fc.string()),
        names: fc.array(fc.string()),
        sinceTime: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
        untilTime: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      }),
      (filter) => {
        try {
          parseListenRequest(create(EventFilterSchema, filter as object));
          return true;
        } catch (error) {
          return hasReason(error, hostReasons.INVALID_FIELD);
        }
      },
    ),
  );
});
