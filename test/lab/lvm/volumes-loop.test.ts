import { test } from "tap";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";
import { runVolumeStorm } from "./volume-storm.ts";

const skip = (await reasonToSkip()) ?? false;

/** Room for every volume of the storm at 2 GiB; the backing file is sparse. */
const extentCount = 150_000;

test("the gateway and LVM agree after a storm of clients", { skip, timeout: 300_000 }, async (t) => {
  const { names, options } = await makeLoopVolumeGroups(t, 1, extentCount);
  const [volumeGroup = ""] = names;
  const { systemDir, activation } = options;
  const report = await runVolumeStorm({
    volumeGroup,
    ...(systemDir === undefined ? {} : { systemDir }),
    activation,
    volumeCount: 200,
    clientCount: 8,
    killedCreates: 50,
  });
  t.comment(JSON.stringify(report));
  t.equal(report.created, 200);
  t.equal(report.reasons.VOLUME_EXISTS, 200, "every second create of a name was rejected");
  t.ok(report.survivedKill >= 3 && report.survivedKill < 50, "the gateway was killed during creates");
  t.ok(report.shellToWatchMs < 20_000, "an lvcreate from a shell reached an open Watch");
});
