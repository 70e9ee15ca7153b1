import { test } from "tap";
import { killAmid, makeKillLab, roundsOf, turns } from "./hypervisors-killed.ts";
import { libvirtSkipReason } from "./libvirt.ts";

const skip = libvirtSkipReason();

for (const [offset, victim] of (["gateway", "libvirtd"] as const).entries()) {
  test(`the ${victim} is killed in the middle of every step`, { skip, timeout: 3_000_000 }, async (t) => {
    const lab = await makeKillLab(t);
    for (let turn = 0; turn < turns; turn += 1) {
      for (const cases of roundsOf(turn + offset)) {
        const beganAtMs = performance.now();
        await killAmid(t, lab, victim, cases);
        t.comment(`${cases.length} at once: ${((performance.now() - beganAtMs) / 1000).toFixed(1)} s`);
      }
    }
  });
}
