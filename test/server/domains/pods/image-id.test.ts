import { test } from "tap";
import { findImage } from "../../../../server/domains/pods/image-id.ts";
import { idOf, imageOf } from "./pods-under-test.ts";

test("an image is found by its full id, with or without a digest prefix", async (t) => {
  const image = imageOf("1a");
  const images = [imageOf("0b"), image];
  t.equal(findImage(images, idOf("1a"), "id"), image);
  t.equal(findImage(images, `sha256:${idOf("1a")}`, "id"), image);
  t.equal(findImage(images, `SHA256:${idOf("1a").toUpperCase()}`, "id"), image);
  for (const expected of ["1a", "sha256:", idOf("1b"), "localhost/web:2.0"]) {
    t.throws(
      () => findImage(images, expected, "id"),
      { name: "InfraError", reason: "IMAGE_NOT_FOUND" },
      expected,
    );
  }
  for (const expected of ["", "0".repeat(257)]) {
    t.throws(() => findImage(images, expected, "id"), {
      name: "InfraError",
      reason: "INVALID_FIELD",
      violations: [{ field: "id" }],
    });
  }
});
