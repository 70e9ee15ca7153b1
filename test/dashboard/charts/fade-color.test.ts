import { test } from "tap";
import { fadeColor } from "../../../dashboard/charts/fade-color.ts";

test("a colour is made fainter, and one that is written otherwise stays as it is", async (t) => {
  t.equal(fadeColor("rgb(24, 90, 188)", 0.2), "rgb(24 90 188 / 0.2)");
  t.equal(fadeColor("color(srgb 1 0 0)", 0.2), "color(srgb 1 0 0)");
});
