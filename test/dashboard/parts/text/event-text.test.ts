import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { eventText } from "../../../../dashboard/parts/text/event-text.ts";
import { type Event, EventSchema } from "../../../../gen/hostplane/v1/event_pb.ts";

function event(detail: MessageInitShape<typeof EventSchema>["detail"] & object, cursor = ""): Event {
  return create(EventSchema, { cursor, detail });
}

test("events are summarised in a line", async (t) => {
  t.equal(
    eventText(event({ case: "volume", value: { sizeBytes: 2n << 30n, previousSizeBytes: 1n << 30n } })),
    "1 GiB → 2 GiB",
  );
  t.equal(
    eventText(event({ case: "volume", value: { sizeBytes: 1n << 30n, outside: true } })),
    "1 GiB; outside this gateway",
  );
  t.equal(
    eventText(
      event({
        case: "clusterHealth",
        value: {
          previousStatus: "HEALTH_OK",
          status: "HEALTH_WARN",
          raised: ["OSD_DOWN: 1 osds down"],
        },
      }),
    ),
    "HEALTH_OK → HEALTH_WARN; OSD_DOWN: 1 osds down",
  );
  t.equal(
    eventText(event({ case: "pod", value: { name: "web", container: "nginx", exitCode: 0 } })),
    "exit code 0",
  );
  t.match(
    eventText(event({ case: "gap", value: { to: timestampFromMs(0), reason: "the gateway was stopped" } })),
    /^Changes until .* may have been missed: the gateway was stopped$/,
  );
  t.equal(eventText(create(EventSchema)), "");
});
