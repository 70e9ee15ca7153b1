import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LvmAdapter } from "../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { snapshotRoomBytes } from "../../../../../adapters/lvm/snapshot-room.ts";
import { operationReasons } from "../../../../../server/operations/reasons.ts";
import { createVolumesUnderTest, requester, snapshotRequest } from "../volumes-under-test.ts";

const mib = 1n << 20n;
const gib = 1n << 30n;
const snapshot = { name: "snap", sourceVolume: "data", tags: ["t"], accessType: "rw" };
const thick = { ...snapshot, deviceClass: "thick" };
const thin = { ...snapshot, sourceVolume: "thin-data", deviceClass: "thin" };

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
  const deviceClasses = [
    { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
    { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool", overprovision: 2 },
  ];
  const { changes } = createVolumesUnderTest(lvm, deviceClasses, {
    assertFree: async (resource) => {
      if (busy.includes(resource)) {
        throw new InfraError(operationReasons.OPERATION_IN_PROGRESS, "an operation works on it");
      }
    },
  });
  const snap = (init: Parameters<typeof snapshotRequest>[0]) =>
    changes.snapshot.run(snapshotRequest(init), requester);
  const planSnap = (init: Parameters<typeof snapshotRequest>[0]) =>
    changes.snapshot.plan(snapshotRequest(init), requester);
  const find = async (name: string) => (await lvm.read()).value.volumes.find((one) => one.name === name);
  const createThin = () =>
    changes.create.run({ name: "thin-data", size: { gib: 1n }, tags: [], deviceClass: "thin" }, requester);
  return { lvm, changes, snap, planSnap, find, createThin };
}

test("the snapshot of a thick volume has its size, and room for a change of every byte", async (t) => {
  const { snap, find, lvm } = createSubject();
  const before = (await lvm.read()).value.volumeGroups[0]?.freeBytes ?? 0n;
  const created = await snap({ ...thick, accessType: "ro" });
  t.match(created, { name: "snap", sizeBytes: 2n * gib, tags: ["t"], attributes: "sri-a-s---" });
  t.match(await find("snap"), { kind: "snapshot", originName: "data", readOnly: true });
  const taken = before - ((await lvm.read()).value.volumeGroups[0]?.freeBytes ?? 0n);
  t.ok(taken >= snapshotRoomBytes(2n * gib, 100), "it cannot overflow");
  await t.rejects(snap(thick), { name: "InfraError", reason: "VOLUME_EXISTS" });
  await t.rejects(snap({ ...thick, name: "next", sourceVolume: "snap" }), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
  });
});

test("the snapshot of a thin volume may be larger than its source", async (t) => {
  const { snap, find, createThin } = createSubject();
  await createThin();
  const created = await snap({ ...thin, sizeBytes: gib + 1n, accessType: "ro" });
  t.match(created, { sizeBytes: gib + 4n * mib, attributes: "Vri-a-tz--" });
  t.match(await find("snap"), { originName: "thin-data", thinPoolName: "pool" });
  const same = await snap({ ...thin, name: "same" });
  t.match(same, { sizeBytes: gib, attributes: "Vwi-a-tz--" });
});

test("invalid sizes and sources are rejected, and nothing is created", async (t) => {
  const { snap, planSnap, lvm, createThin } = createSubject();
  await createThin();
  const before = (await lvm.read()).value.volumes.length;
  for (const [changed, reason] of [
    [{ ...thick, sizeBytes: 2n * gib - 1n }, "VOLUME_TOO_SMALL"],
    [{ ...thin, sizeBytes: gib - 1n }, "VOLUME_TOO_SMALL"],
    [{ ...thick, sizeBytes: 2n * gib + 1n }, "INVALID_FIELD"],
    [{ ...thin, sizeGb: 40n }, "NO_SPACE"],
    [{ ...thick, sourceVolume: "absent" }, "VOLUME_NOT_FOUND"],
    [{ ...thick, sourceVolume: "thin-data" }, "VOLUME_PROTECTED"],
    [{ ...thin, sourceVolume: "data" }, "VOLUME_NOT_FOUND"],
    [{ ...thin, sourceVolume: "pool" }, "VOLUME_PROTECTED"],
    [{ ...thick, sourceVolume: "" }, "INVALID_FIELD"],
    [{ ...thick, sourceVolume: "-x" }, "INVALID_FIELD"],
    [{ ...thick, name: "snapshot1" }, "INVALID_FIELD"],
    [{ ...thick, deviceClass: "none" }, "DEVICE_CLASS_NOT_FOUND"],
  ] as const) {
    await t.rejects(snap(changed), { name: "InfraError", reason });
    await t.rejects(planSnap(changed), { name: "InfraError", reason }, "its plan is rejected too");
  }
  t.equal((await lvm.read()).value.volumes.length, before);
});

test("a thick snapshot without enough space is not created", async (t) => {
  const { changes, snap } = createSubject();
  await changes.create.run({ name: "fill", size: { gib: 13n }, tags: [], deviceClass: "thick" }, requester);
  await t.rejects(snap(thick), { name: "InfraError", reason: "NO_SPACE" });
});

test("a snapshot that cannot be extended is removed again", async (t) => {
  const { snap, find, createThin } = createSubject((lvm) => ({
    run: (step) =>
      step.kind === "resize"
        ? Promise.reject(new InfraError(hostReasons.NO_SPACE, "the pool is full", { effect: "none" }))
        : lvm.run(step),
  }));
  await createThin();
  await t.rejects(snap({ ...thin, sizeGb: 2n }), {
    name: "InfraError",
    reason: "NO_SPACE",
    effect: "none",
  });
  t.equal(await find("snap"), undefined);
});

test("the plan of a larger thin snapshot shows both commands", async (t) => {
  const { planSnap, createThin } = createSubject();
  await createThin();
  const { plan, steps } = await planSnap({ ...thin, sizeGb: 2n, accessType: "ro" });
  t.same(plan, {
    changes: [
      "vg0/snap, a read-only snapshot of thin-data, is created with 2 GiB (2147483648 bytes), tagged t",
    ],
    losses: [],
    facts: [
      { resource: "volumeGroups/vg0/volumes/thin-data", name: "uuid", value: "sandbox-volume-3" },
      { resource: "volumeGroups/vg0/volumes/thin-data", name: "sizeBytes", value: "1073741824" },
      { resource: "volumeGroups/vg0/volumes/thin-data", name: "kind", value: "thinVolume" },
      { resource: "volumeGroups/vg0/volumes/pool", name: "freeBytes", value: "at least 2147483648" },
    ],
  });
  t.same(
    steps.map(({ name }) => name),
    ["snapshot", "resize"],
  );
});

test("no snapshot is taken of a volume while an operation works on it", async (t) => {
  const { snap } = createSubject(undefined, ["volumeGroups/vg0/volumes/data"]);
  await t.rejects(snap(thick), {
    name: "InfraError",
    reason: "OPERATION_IN_PROGRESS",
  });
});
