import { test } from "tap";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { createDeviceClassFigures } from "../../../../../server/domains/volumes/monitoring/figures.ts";

const { signal } = new AbortController();
const gib = 2 ** 30;

test("a class has the figures of its group, and one whose group is missing has none", async (t) => {
  const lvm = createLvmSandbox();
  t.teardown(() => lvm.close());
  const [group] = (await lvm.read()).value.volumeGroups;
  const volumeGroup = group?.name ?? "";
  const source = createDeviceClassFigures(lvm, [
    { name: "ssd", volumeGroup, default: true, spareGiB: 1 },
    { name: "lost", volumeGroup: "none", default: false, spareGiB: 0 },
  ]);
  const [ssd, lost] = await source.read(signal);
  const sizeBytes = Number(group?.sizeBytes);
  const freeBytes = Number(group?.freeBytes);
  t.same(ssd, {
    name: "deviceClasses/ssd",
    figures: [
      { name: "size", value: sizeBytes, unit: "bytes" },
      { name: "used", value: sizeBytes - freeBytes, unit: "bytes" },
      { name: "free", value: freeBytes - gib, unit: "bytes" },
    ],
  });
  t.same(lost, { name: "deviceClasses/lost", figures: [] });
});
