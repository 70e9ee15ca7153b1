import { test } from "tap";
import { ImageType } from "../../../../../gen/v1alpha/api_pb.ts";
import { publicImage } from "../../../../../server/domains/pods/public/public-image.ts";
import { idOf, imageOf } from "../pods-under-test.ts";

test("an image is returned under its first name, with the time of its import or else of its build", async (t) => {
  const image = imageOf("1a", {
    names: ["localhost:5000/web:2.0", "localhost/other:1"],
    sizeBytes: 5_000_000_000n,
    labels: new Map([["role", "web"]]),
    annotations: new Map([["note", "x"]]),
  });
  t.match(publicImage(image, 1_800_000_000_999_999_999n), {
    baseFormat: { type: ImageType.OCI, version: "v1" },
    id: idOf("1a"),
    name: "localhost:5000/web",
    version: "2.0",
    importTimestamp: 1_800_000_000n,
    size: 5_000_000_000n,
    labels: [{ Key: "role", value: "web" }],
    annotations: [{ Key: "note", value: "x" }],
  });
  t.equal(publicImage(image, undefined).importTimestamp, 1_700_000_000n);
  t.match(publicImage(imageOf("2b"), undefined), { name: "", version: "" });
  const strange = imageOf("3c", { format: "unknown", formatVersion: "" });
  t.match(publicImage(strange, undefined).baseFormat, { type: ImageType.UNDEFINED, version: "" });
});
