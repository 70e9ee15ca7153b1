import { test } from "tap";
import { allDeaths, dieAtBoundaries, fewDeaths } from "./hypervisors-boundaries.ts";
import { makeKillLab, turns } from "./hypervisors-killed.ts";
import { libvirtSkipReason } from "./libvirt.ts";

const skip = libvirtSkipReason();

test("the gateway dies at boundaries of steps", { skip, timeout: 3_000_000 }, async (t) => {
  const lab = await makeKillLab(t);
  const deaths = turns > 1 ? allDeaths : fewDeaths;
  const beganAtMs = performance.now();
  await dieAtBoundaries(t, lab, deaths);
  t.comment(`${deaths.length} deaths: ${((performance.now() - beganAtMs) / 1000).toFixed(1)} s`);
});
