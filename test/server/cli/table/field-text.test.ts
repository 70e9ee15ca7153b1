import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { PodImageSchema, PodSchema, PodState } from "../../../../gen/hostplane/v1/pod_pb.ts";
import { UserSchema } from "../../../../gen/hostplane/v1/user_pb.ts";
import { fieldText } from "../../../../server/cli/table/field-text.ts";

test("a field is formatted by its type", async (t) => {
  const pod = create(PodSchema, { id: "a", state: PodState.RUNNING, startedAt: timestampFromMs(0) });
  t.equal(fieldText(PodSchema, pod, "id"), "a");
  t.equal(fieldText(PodSchema, pod, "state"), "running");
  t.equal(fieldText(PodSchema, pod, "startedAt"), "1970-01-01T00:00:00.000Z");
  t.equal(fieldText(PodSchema, pod, "createdAt"), "");
  const image = create(PodImageSchema, { names: ["a", "b"], sizeBytes: 3n << 29n, containerCount: 2 });
  t.equal(fieldText(PodImageSchema, image, "names"), "a, b");
  t.equal(fieldText(PodImageSchema, image, "sizeBytes"), "1.5 GiB");
  t.equal(fieldText(PodImageSchema, image, "containerCount"), "2");
  t.equal(fieldText(UserSchema, create(UserSchema, { hasPassword: true }), "hasPassword"), "yes");
  t.throws(() => fieldText(PodSchema, pod, "nothing"), {
    message: /hostplane\.v1\.Pod has no field nothing/,
  });
});
