import { test } from "tap";
import { fadeColor } from "../../../dashboard/charts/fade-color.ts";

test("a colour is faded; an unknown format is returned unchanged", async (t) => {
  t.equal(fadeColor("rgb(24, 90, 188)", 0.2), "rgb(24 90 188 / 0.2)");
  t.equal(fadeColor("color(srgb 1 0 0)", 0.2), "color(srgb 1 0 0)");
});
