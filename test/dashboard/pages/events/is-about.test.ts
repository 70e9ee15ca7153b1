import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import { isAbout } from "../../../../dashboard/pages/events/is-about.ts";
import { EventSchema } from "../../../../gen/hostplane/v1/event_pb.ts";

test("events match by the beginning of their resource, and gaps by resources below theirs", async (t) => {
  const volume = create(EventSchema, { resource: "volumeGroups/vg0/volumes/data" });
  const gap = create(EventSchema, { resource: "volumeGroups", detail: { case: "gap", value: {} } });
  t.ok(isAbout(volume, ""));
  t.ok(isAbout(volume, " volumeGroups/vg0 "));
  t.notOk(isAbout(volume, "volumeGroups/vg1"));
  t.ok(isAbout(gap, "volumeGroups/vg1/volumes/a"));
  t.notOk(isAbout(gap, "pods/a"));
});
