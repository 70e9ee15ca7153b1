import { test } from "tap";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";
import { runVolumeKillStorm } from "./volume-kill-storm.ts";

const skip = (await reasonToSkip()) ?? false;

/** The long form, for `npm run test:full`. */
const isFull = process.env.LAB_FULL === "1";
const seed = Number(process.env.STORM_SEED ?? Math.floor(Math.random() * 2 ** 32));

test(`no acknowledged volume is lost although the gateway is killed (STORM_SEED=${seed})`, {
  skip,
}, async (t) => {
  const { names, options } = await makeLoopVolumeGroups(t, 1, 2_000);
  const [volumeGroup = ""] = names;
  const { systemDir, activation } = options;
  const kills = isFull ? 20 : 2;
  const report = await runVolumeKillStorm({
    volumeGroup,
    ...(systemDir === undefined ? {} : { systemDir }),
    activation,
    volumeCount: isFull ? 200 : 24,
    clientCount: 8,
    kills,
    seed,
  });
  t.comment(JSON.stringify(report));
  t.equal(report.kills, kills);
  t.ok(report.counts.repeated > 0, "calls were interrupted by kills");
});
