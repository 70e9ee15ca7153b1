import { type Test, test } from "tap";
import { openSandboxVolumes } from "../../../../../server/domains/volumes/system/open-sandbox.ts";
import { createWorldUnderTest } from "../../../sandbox/demo-world-under-test.ts";

async function readWorld(t: Test, options: Parameters<typeof createWorldUnderTest>[0] = {}) {
  const { lvm, deviceClasses, lowSpacePercent, close } = openSandboxVolumes(createWorldUnderTest(options));
  t.teardown(close);
  return { ...(await lvm.read()).value, deviceClasses, lowSpacePercent };
}

test("a world has sixty volumes in three device classes, and one class is nearly full", async (t) => {
  const { volumes, volumeGroups, deviceClasses, lowSpacePercent } = await readWorld(t);
  t.equal(volumes.length, 60);
  t.same(
    deviceClasses.map(({ name }) => name),
    ["sandbox-ssd", "sandbox-nvme", "sandbox-hdd"],
  );
  const low = volumeGroups.filter(
    ({ freeBytes, sizeBytes }) => freeBytes * 100n < sizeBytes * BigInt(lowSpacePercent),
  );
  t.match(low, [{ name: "sandbox-hdd-vg" }]);
  const named = (name: string) => volumes.filter((volume) => volume.name === name);
  t.match(named("web-assets"), [{ volumeGroupName: "sandbox-hdd-vg", tags: ["app=web", /^env=/] }]);
  t.match(named("db-orders-data"), [{ volumeGroupName: "sandbox-nvme-vg" }]);
});

test("the same seed gives the same volumes, and another seed gives others", async (t) => {
  const { volumes } = await readWorld(t);
  t.same((await readWorld(t)).volumes, volumes);
  t.notSame((await readWorld(t, { seed: 2 })).volumes, volumes);
});

test("a world can have thousands of volumes, each with its own name", async (t) => {
  const { volumes } = await readWorld(t, { sizes: { volumes: 3_000 } });
  t.equal(new Set(volumes.map(({ name, volumeGroupName }) => `${volumeGroupName}/${name}`)).size, 3_000);
});
