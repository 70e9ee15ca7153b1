import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../adapters/lvm/sandbox.ts";
import { snapshotRoomBytes } from "../../../../adapters/lvm/snapshot-room.ts";
import { createVolumes } from "../../../../server/domains/volumes/volumes.ts";
import { operationReasons } from "../../../../server/operations/reasons.ts";
import { createInlineRunner } from "../../../../server/operations/run-inline.ts";

const mib = 1n << 20n;
const gib = 1n << 30n;
const asker = {
  signal: new AbortController().signal,
  noteResource: () => {},
  peer: { lvmd: "backups" },
} as const;
const wanted = { name: "snap", sourceName: "data", size: undefined, tags: ["t"], readOnly: false };
const thick = { ...wanted, deviceClass: "thick" };
const thin = { ...wanted, sourceName: "thin-data", deviceClass: "thin" };

function createSubject(change: (lvm: LvmAdapter) => Partial<LvmAdapter> = () => ({}), busy: string[] = []) {
  const sandbox = createLvmSandbox({
    volumeGroups: [
      {
        name: "vg0",
        sizeBytes: 20n * gib + 4n * mib,
        volumes: [
          { name: "data", sizeBytes: 2n * gib },
          { name: "pool", sizeBytes: 4n * gib, thinPool: true },
        ],
      },
    ],
  });
  const lvm = { ...sandbox, ...change(sandbox) };
  const volumes = createVolumes({
    lvm,
    deviceClasses: [
      { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
      { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool", overprovision: 2 },
    ],
    protect: [],
    runner: createInlineRunner(() => {}),
    operations: {
      assertFree: async (resource) => {
        if (busy.includes(resource)) {
          throw new InfraError(operationReasons.OPERATION_IN_PROGRESS, "an operation works on it");
        }
      },
    },
  });
  const find = async (name: string) => (await lvm.read()).value.volumes.find((one) => one.name === name);
  const makeThin = () =>
    volumes.create({ name: "thin-data", size: { gib: 1n }, tags: [], deviceClass: "thin" }, asker);
  return { lvm, volumes, find, makeThin };
}

test("the snapshot of a thick volume has its size, and room for a change of every byte", async (t) => {
  const { volumes, find, lvm } = createSubject();
  const before = (await lvm.read()).value.volumeGroups[0]?.freeBytes ?? 0n;
  const made = await volumes.createSnapshot({ ...thick, readOnly: true }, asker);
  t.match(made, { name: "snap", sizeBytes: 2n * gib, tags: ["t"], attributes: "sri-a-s---" });
  t.match(await find("snap"), { kind: "snapshot", originName: "data", readOnly: true });
  const taken = before - ((await lvm.read()).value.volumeGroups[0]?.freeBytes ?? 0n);
  t.ok(taken >= snapshotRoomBytes(2n * gib, 100), "it cannot overflow");
  await t.rejects(volumes.createSnapshot(thick, asker), { name: "InfraError", reason: "VOLUME_EXISTS" });
  await t.rejects(volumes.createSnapshot({ ...thick, name: "next", sourceName: "snap" }, asker), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
  });
});

test("the snapshot of a thin volume may be larger than its source", async (t) => {
  const { volumes, find, makeThin } = createSubject();
  await makeThin();
  const made = await volumes.createSnapshot({ ...thin, size: { bytes: gib + 1n }, readOnly: true }, asker);
  t.match(made, { sizeBytes: gib + 4n * mib, attributes: "Vri-a-tz--" });
  t.match(await find("snap"), { originName: "thin-data", thinPoolName: "pool" });
  const same = await volumes.createSnapshot({ ...thin, name: "same" }, asker);
  t.match(same, { sizeBytes: gib, attributes: "Vwi-a-tz--" });
});

test("invalid sizes and sources are rejected, and nothing is created", async (t) => {
  const { volumes, lvm, makeThin } = createSubject();
  await makeThin();
  const before = (await lvm.read()).value.volumes.length;
  for (const [changed, reason] of [
    [{ ...thick, size: { bytes: 2n * gib - 1n } }, "VOLUME_TOO_SMALL"],
    [{ ...thin, size: { bytes: gib - 1n } }, "VOLUME_TOO_SMALL"],
    [{ ...thick, size: { bytes: 2n * gib + 1n } }, "INVALID_FIELD"],
    [{ ...thin, size: { gib: 40n } }, "NO_SPACE"],
    [{ ...thick, sourceName: "absent" }, "VOLUME_NOT_FOUND"],
    [{ ...thick, sourceName: "thin-data" }, "VOLUME_PROTECTED"],
    [{ ...thin, sourceName: "data" }, "VOLUME_NOT_FOUND"],
    [{ ...thin, sourceName: "pool" }, "VOLUME_PROTECTED"],
    [{ ...thick, sourceName: "" }, "INVALID_FIELD"],
    [{ ...thick, sourceName: "-x" }, "INVALID_FIELD"],
    [{ ...thick, name: "snapshot1" }, "INVALID_FIELD"],
    [{ ...thick, deviceClass: "none" }, "DEVICE_CLASS_NOT_FOUND"],
  ] as const) {
    await t.rejects(volumes.createSnapshot(changed, asker), { name: "InfraError", reason });
    await t.rejects(
      volumes.planSnapshot(changed, asker),
      { name: "InfraError", reason },
      "its plan is rejected too",
    );
  }
  t.equal((await lvm.read()).value.volumes.length, before);
});

test("a thick snapshot without enough space is not created", async (t) => {
  const { volumes } = createSubject();
  await volumes.create({ name: "fill", size: { gib: 13n }, tags: [], deviceClass: "thick" }, asker);
  await t.rejects(volumes.createSnapshot(thick, asker), { name: "InfraError", reason: "NO_SPACE" });
});

test("a snapshot that cannot be extended is removed again", async (t) => {
  const { volumes, find, makeThin } = createSubject((lvm) => ({
    run: (step) =>
      step.kind === "resize"
        ? Promise.reject(new InfraError(hostReasons.NO_SPACE, "the pool is full", { effect: "none" }))
        : lvm.run(step),
  }));
  await makeThin();
  await t.rejects(volumes.createSnapshot({ ...thin, size: { gib: 2n } }, asker), {
    name: "InfraError",
    reason: "NO_SPACE",
    effect: "none",
  });
  t.equal(await find("snap"), undefined);
});

test("the plan of a larger thin snapshot shows both commands", async (t) => {
  const { volumes, makeThin } = createSubject();
  await makeThin();
  const { plan, steps } = await volumes.planSnapshot({ ...thin, size: { gib: 2n }, readOnly: true }, asker);
  t.same(plan, {
    changes: [
      "vg0/snap, a read-only snapshot of thin-data, is created with 2 GiB (2147483648 bytes), tagged t",
    ],
    losses: [],
  });
  t.same(
    steps.map(({ name }) => name),
    ["snapshot", "resize"],
  );
});

test("no snapshot is taken of a volume while an operation works on it", async (t) => {
  const { volumes } = createSubject(undefined, ["volumeGroups/vg0/volumes/data"]);
  await t.rejects(volumes.createSnapshot(thick, asker), {
    name: "InfraError",
    reason: "OPERATION_IN_PROGRESS",
  });
});
