import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { type EventSchema, FollowedEventSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { hostGapEvent, mergedEventFrom } from "../../../../server/fleet/events/merged-event.ts";

function followed(facts: MessageInitShape<typeof EventSchema> = {}, services = ["proto.LVService"]) {
  return create(FollowedEventSchema, {
    event: {
      cursor: "c",
      at: timestampFromMs(1234),
      topic: "volumes",
      type: "volume.created",
      resource: "volumeGroups/vg0/volumes/a",
      host: "one.example.org",
      sandbox: true,
      detail: { case: "volume", value: { name: "a", sizeBytes: 5n } },
      ...facts,
    },
    services,
  });
}

test("an event of a host gets the name in the host's certificate, and keeps its facts", async (t) => {
  t.same(mergedEventFrom(followed({ operationId: "op-1" }), "node-1"), {
    topic: "volumes",
    type: "volume.created",
    resource: "volumeGroups/vg0/volumes/a",
    host: "one.example.org",
    operationId: "op-1",
    services: ["proto.LVService"],
    payload: { sandbox: true, volume: { name: "a", sizeBytes: "5" } },
    ofHost: { name: "node-1", atMs: 1234 },
  });
  t.match(mergedEventFrom(followed(), "node-1"), { operationId: undefined });
});

test("the owner of a plan is kept beside the details", async (t) => {
  const ofPlan = followed({ topic: "plan", detail: { case: "plan", value: { id: "1", method: "a.B/C" } } });
  t.same(mergedEventFrom({ ...ofPlan, planOwner: "fleet/alice" }, "node-1"), {
    ...(mergedEventFrom(ofPlan, "node-1") as object),
    payload: { sandbox: true, plan: { id: "1", method: "a.B/C" }, planOwner: "fleet/alice" },
  });
  t.equal(mergedEventFrom({ ...ofPlan, planOwner: "a\nb" }, "node-1"), "the owner of its plan is invalid");
});

test("what no host may send is not accepted", async (t) => {
  const problems: readonly [ReturnType<typeof followed>, RegExp][] = [
    [create(FollowedEventSchema, {}), /no event/],
    [followed({ topic: "fleet", type: "host.removed", resource: "hosts/node-2" }), /only a hub/],
    [followed({ fleetHost: "node-2" }), /only a hub/],
    [followed({ topic: "" }), /topic/],
    [followed({ topic: "Volumes" }), /topic/],
    [followed({ topic: "v".repeat(33) }), /topic/],
    [followed({ type: "a b" }), /type/],
    [followed({ resource: "" }), /resource/],
    [followed({ resource: "r".repeat(1025) }), /resource/],
    [followed({ resource: "a\u001b[2Jb" }), /resource/],
    [followed({ host: "h".repeat(254) }), /host/],
    [followed({ operationId: "a/b" }), /operationId/],
    [
      followed(
        {},
        Array.from({ length: 65 }, () => "proto.LVService"),
      ),
      /services/,
    ],
    [followed({}, ["proto.LVService\n"]), /services/],
    [followed({ at: { seconds: 2n ** 62n, nanos: 0 } }), /time/],
    [
      followed({
        detail: { case: "gap", value: { reason: "", to: { seconds: 2n ** 62n, nanos: 0 } } },
      }),
      /details/,
    ],
  ];
  for (const [event, problem] of problems) {
    const merged = mergedEventFrom(event, "node-1");
    t.match(merged, problem, String(problem));
  }
  const undated = followed();
  delete undated.event?.at;
  t.match(mergedEventFrom(undated, "node-1"), /time/);
});

test("details that are larger than a host may send are omitted", async (t) => {
  const withName = (name: string) => followed({ detail: { case: "volume", value: { name, sizeBytes: 5n } } });
  const largest = mergedEventFrom(withName("v".repeat(250_000)), "node-1");
  t.match(largest, { payload: { volume: { sizeBytes: "5" } } });
  // Three bytes for each character.
  const tooLarge = mergedEventFrom(withName("\u20ac".repeat(100_000)), "node-1");
  t.match(tooLarge, { type: "volume.created", services: ["proto.LVService"], payload: {} });
  t.notMatch(tooLarge, { payload: { volume: {} } });
});

test("a gap of a host says from when to when, as far as that is known", async (t) => {
  const gap = { toMs: 2000, reason: "why" };
  t.match(hostGapEvent("node-1", { ...gap, fromMs: 1000 }), {
    topic: "fleet",
    type: "gap",
    resource: "hosts/node-1",
    payload: { gap: { from: "1970-01-01T00:00:01.000Z", to: "1970-01-01T00:00:02.000Z", reason: "why" } },
    ofHost: { name: "node-1" },
  });
  t.notMatch(hostGapEvent("node-1", { ...gap, fromMs: undefined }).payload, { gap: { from: String } });
});
