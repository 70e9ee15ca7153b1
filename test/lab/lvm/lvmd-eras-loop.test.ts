import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { readEras } from "../../proto-lvmd/eras.ts";
import { mixedSteps, runMixedSteps } from "../../proto-lvmd/mixed-eras.ts";
import { startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { makeLoopVolumeGroups, reasonToSkip } from "./loop-volume-group.ts";

const skip = (await reasonToSkip()) ?? false;
const services = ["proto.LVService", "proto.VGService"];

/** Room for all volumes that the steps may have at once; the backing file is sparse. */
const extentCount = 3_000;

test("clients of every lvmd version change one real volume group, exact to the byte", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const { names, options, shell } = await makeLoopVolumeGroups(t, 1, extentCount);
  const [volumeGroup = ""] = names;
  const data = await mkdtemp(join(tmpdir(), "hostplane-eras-"));
  t.teardown(() => rm(data, { recursive: true, force: true }));
  const { systemDir, activation } = options;
  const { gateway } = await startGatewayUnderTest(t, {
    data,
    listen: [
      { address: "127.0.0.1:0", services },
      { address: "127.0.0.1:0", services, lvmd: "current" },
    ],
    volumes: {
      deviceClasses: [{ name: "lab", volumeGroup, default: true, spareGiB: 0 }],
      lvm: { activation, ...(systemDir === undefined ? {} : { systemDir }) },
    },
  });
  const [backups, current] = gateway.addresses;
  const urls = { backups: `http://${backups}`, current: `http://${current}` };
  const eras = await readEras();
  let steps = 0;
  await fc.assert(
    fc.asyncProperty(mixedSteps(eras.length), async (mixed) => {
      await runMixedSteps(eras, urls, 4n << 20n, mixed);
      steps += mixed.length;
    }),
    { numRuns: 10 },
  );
  t.comment(`${steps} steps`);
  t.equal((await shell("lvs", "--noheadings", "-o", "lv_name", volumeGroup)).trim(), "", "nothing is left");
});
