import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { test } from "tap";
import { eventTitle } from "../../../../dashboard/parts/text/event-title.ts";
import { EventSchema } from "../../../../gen/hostplane/v1/event_pb.ts";

function titleOf(fields: MessageInitShape<typeof EventSchema>, name = "a name"): string {
  return eventTitle(create(EventSchema, fields), name);
}

test("an event is titled by what happened to what, without ids", async (t) => {
  t.equal(titleOf({ type: "osd.nearFull" }, "osd.3"), "osd.3 near full");
  t.equal(
    titleOf({ type: "pod.exited", detail: { case: "pod", value: { id: "1", name: "web" } } }, "1"),
    "web exited",
  );
  t.equal(
    titleOf({
      type: "container.exited",
      detail: { case: "pod", value: { id: "1", name: "web", container: "nginx" } },
    }),
    "web/nginx exited",
  );
  t.equal(
    titleOf({
      type: "kubernetesMachine.changed",
      detail: { case: "kubernetesMachine", value: { id: "1", cluster: "prod", state: "joined" } },
    }),
    "Machine of cluster prod",
  );
  t.equal(titleOf({ type: "gap" }), "Changes may have been missed");
});
