import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { snapshotRoomBytes } from "../../../../../adapters/lvm/snapshot-room.ts";
import {
  CreateSnapshotRequestSchema,
  RenameVolumeRequestSchema,
  SetVolumeTagsRequestSchema,
} from "../../../../../gen/hostplane/v1/volume_pb.ts";
import { operationTag } from "../../../../../server/lvm/operation-marks.ts";
import { operationReasons } from "../../../../../server/operations/reasons.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { createVolumesUnderTest, removeRequest, requester } from "../volumes-under-test.ts";

const mib = 1n << 20n;
const gib = 1n << 30n;
const uuid = "5c2a3e0e-7d0c-4a59-8f2b-1f6b4f0a9c11";

async function createSubject(t: Test, { busy = [] as string[] } = {}) {
  const lvm = createLvmSandbox({
    volumeGroups: [
      {
        name: "vg0",
        sizeBytes: 20n * gib,
        volumes: [
          { name: "data", sizeBytes: 2n * gib, tags: ["a", "b"], open: true },
          { name: "keep1", sizeBytes: gib },
          { name: "pool", sizeBytes: 4n * gib, thinPool: true },
          { name: uuid, sizeBytes: gib },
          { name: "hostplane-restore-1", sizeBytes: gib, tags: [operationTag("1"), "hostplane-volume=next"] },
        ],
      },
    ],
  });
  t.teardown(() => lvm.close());
  const deviceClasses = [
    { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
    { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool", overprovision: 2 },
  ];
  const operations = {
    assertFree: async (resource: string) => {
      if (busy.includes(resource)) {
        throw new InfraError(operationReasons.OPERATION_IN_PROGRESS, "an operation works on it");
      }
    },
  };
  const { serviceChanges, changes } = createVolumesUnderTest(lvm, deviceClasses, operations, ["keep*"]);
  await changes.create.run(
    { name: "thin-data", size: { gib: 1n }, tags: [], deviceClass: "thin" },
    requester,
  );
  const { createSnapshot, renameVolume, setVolumeTags } = serviceChanges;
  const requests = {
    snapshot: (init: MessageInitShape<typeof CreateSnapshotRequestSchema>) =>
      create(CreateSnapshotRequestSchema, init),
    rename: (init: MessageInitShape<typeof RenameVolumeRequestSchema>) =>
      create(RenameVolumeRequestSchema, init),
    tags: (init: MessageInitShape<typeof SetVolumeTagsRequestSchema>) =>
      create(SetVolumeTagsRequestSchema, init),
  };
  return {
    lvm,
    changes,
    snapshot: (init: Parameters<typeof requests.snapshot>[0]) =>
      createSnapshot.run(requests.snapshot(init), createCall()),
    planSnapshot: (init: Parameters<typeof requests.snapshot>[0]) =>
      createSnapshot.plan(requests.snapshot(init), requester),
    rename: (init: Parameters<typeof requests.rename>[0]) =>
      renameVolume.run(requests.rename(init), createCall()),
    planRename: (init: Parameters<typeof requests.rename>[0]) =>
      renameVolume.plan(requests.rename(init), requester),
    setTags: (init: Parameters<typeof requests.tags>[0]) =>
      setVolumeTags.run(requests.tags(init), createCall()),
    planTags: (init: Parameters<typeof requests.tags>[0]) =>
      setVolumeTags.plan(requests.tags(init), requester),
    freeBytes: async () => (await lvm.read()).value.volumeGroups[0]?.freeBytes ?? 0n,
    find: async (name: string) => (await lvm.read()).value.volumes.find((one) => one.name === name),
  };
}

test("the snapshot of a thick volume gets the requested space, and its plan says when it becomes invalid", async (t) => {
  const { snapshot, planSnapshot, freeBytes, find } = await createSubject(t);
  const before = await freeBytes();
  const request = { source: "data", name: "snap", spaceBytes: 8n * mib - 1n, readOnly: true, tags: ["t"] };
  t.same((await planSnapshot(request)).plan, {
    changes: [
      "vg0/snap, a read-only snapshot of data, is created with 2 GiB (2147483648 bytes), tagged t; it becomes invalid when the differences from data fill its space of 8 MiB (8388607 bytes)",
    ],
    losses: [],
    facts: [
      { resource: "volumeGroups/vg0/volumes/data", name: "uuid", value: "sandbox-volume-1" },
      { resource: "volumeGroups/vg0/volumes/data", name: "sizeBytes", value: "2147483648" },
      { resource: "volumeGroups/vg0/volumes/data", name: "kind", value: "linear" },
      { resource: "volumeGroups/vg0", name: "freeBytes", value: "at least 8388608" },
    ],
  });
  const { volume } = await snapshot(request);
  t.match(volume, {
    name: "snap",
    origin: "data",
    readOnly: true,
    snapshotSpaceBytes: 8n * mib,
    tags: ["t"],
  });
  t.equal(before - (await freeBytes()), 8n * mib);
  for (const spaceBytes of [0n, 100n * gib]) {
    const name = `whole-${spaceBytes}`;
    await snapshot({ source: "data", name, spaceBytes });
    t.ok(((await find(name))?.roomBytes ?? 0n) >= snapshotRoomBytes(2n * gib, 100), "it cannot overflow");
  }
});

test("the snapshot of a thin volume takes no space, and can have snapshots itself", async (t) => {
  const { snapshot, freeBytes } = await createSubject(t);
  const before = await freeBytes();
  const thin = { deviceClass: "thin" };
  await snapshot({ source: "thin-data", name: "first", ...thin });
  const { volume } = await snapshot({ source: "first", name: "second", ...thin });
  t.match(volume, { origin: "first", thinPool: "pool", sizeBytes: gib, deviceClass: "thin" });
  t.equal(await freeBytes(), before);
  await t.rejects(snapshot({ source: "first", name: "third", spaceBytes: 1n, ...thin }), {
    name: "InfraError",
    violations: [{ field: "space_bytes", description: /^must be 0: snapshots in thin pool vg0\/pool/ }],
  });
});

test("an invalid snapshot is refused, with the field's name", async (t) => {
  const { snapshot, planSnapshot, lvm } = await createSubject(t);
  await snapshot({ source: "data", name: "snap", spaceBytes: mib });
  const before = (await lvm.read()).value.volumes.length;
  const valid = { source: "data", name: "new" };
  const refused: readonly [Parameters<typeof snapshot>[0], string, string | undefined][] = [
    [{ name: "snapshot1" }, "INVALID_FIELD", "name"],
    [{ name: "x_tdata" }, "INVALID_FIELD", "name"],
    [{ name: "keep9" }, "INVALID_FIELD", "name"],
    [{ name: "n".repeat(122) }, "INVALID_FIELD", "name"],
    [{ source: "" }, "INVALID_FIELD", "source"],
    [{ spaceBytes: -1n }, "INVALID_FIELD", "space_bytes"],
    [{ tags: ["a@b"] }, "INVALID_FIELD", "tags[0]"],
    [{ tags: ["hostplane-x"] }, "INVALID_FIELD", "tags[0]"],
    [{ name: "data" }, "VOLUME_EXISTS", undefined],
    [{ source: "none" }, "VOLUME_NOT_FOUND", undefined],
    [{ source: "snap" }, "VOLUME_PROTECTED", undefined],
    [{ source: "pool" }, "VOLUME_PROTECTED", undefined],
    [{ source: "thin-data" }, "VOLUME_PROTECTED", undefined],
    [{ deviceClass: "none" }, "DEVICE_CLASS_NOT_FOUND", undefined],
  ];
  for (const [changed, reason, field] of refused) {
    const match = {
      name: "InfraError",
      reason,
      ...(field === undefined ? {} : { violations: [{ field }] }),
    };
    await t.rejects(snapshot({ ...valid, ...changed }), match);
    await t.rejects(planSnapshot({ ...valid, ...changed }), match, "its plan is refused too");
  }
  t.equal((await lvm.read()).value.volumes.length, before);
});

test("a volume is renamed while it is open, and so is the origin of its snapshots", async (t) => {
  const { snapshot, rename, planRename, find } = await createSubject(t);
  await snapshot({ source: "data", name: "snap", spaceBytes: mib });
  const { plan, steps } = await planRename({ name: "data", newName: "renamed" });
  t.same(plan, {
    changes: ["vg0/data is renamed to renamed, and its device /dev/vg0/data to /dev/vg0/renamed"],
    losses: [],
    facts: [
      { resource: "volumeGroups/vg0/volumes/data", name: "uuid", value: "sandbox-volume-1" },
      { resource: "volumeGroups/vg0/volumes/data", name: "sizeBytes", value: "2147483648" },
      { resource: "volumeGroups/vg0/volumes/data", name: "kind", value: "linear" },
    ],
  });
  t.match(steps, [{ command: ["lvm", "lvrename", "--", "vg0", "data", "renamed"] }]);
  const { uuid: before } = (await find("data")) ?? {};
  const { volume } = await rename({ name: "data", newName: "renamed" });
  t.match(volume, { name: "renamed", uuid: before, open: true, devicePath: "/dev/vg0/renamed" });
  t.match(await find("snap"), { originName: "renamed" });
  t.equal(await find("data"), undefined);
});

test("the plan of a rename says that an owner loses the volume", async (t) => {
  const { planRename } = await createSubject(t);
  const { plan } = await planRename({ name: uuid, newName: "renamed" });
  t.match(plan.losses, [/^TopoLVM can no longer find vg0\/5c2a/]);
});

test("an invalid rename is refused, with the field's name", async (t) => {
  const { snapshot, rename, planRename, lvm } = await createSubject(t);
  await snapshot({ source: "data", name: "snap", spaceBytes: mib });
  const before = (await lvm.read()).value.volumes;
  const longest = 127 - "vg0-".length;
  for (const [changed, reason, field] of [
    [{ newName: "data" }, "INVALID_FIELD", "new_name"],
    [{ newName: "pvmove1" }, "INVALID_FIELD", "new_name"],
    [{ newName: "x_mlog" }, "INVALID_FIELD", "new_name"],
    [{ newName: "keep2" }, "INVALID_FIELD", "new_name"],
    [{ newName: "" }, "INVALID_FIELD", "new_name"],
    [{ newName: "n".repeat(longest - 4) }, "INVALID_FIELD", "new_name"],
    [{ name: "snap", newName: "n".repeat(longest - 3) }, "INVALID_FIELD", "new_name"],
    [{ name: "-x" }, "INVALID_FIELD", "name"],
    [{ newName: "snap" }, "VOLUME_EXISTS", undefined],
    [{ newName: "next" }, "VOLUME_EXISTS", undefined],
    [{ name: "none" }, "VOLUME_NOT_FOUND", undefined],
    [{ name: "keep1" }, "VOLUME_PROTECTED", undefined],
    [{ name: "next" }, "VOLUME_PROTECTED", undefined],
    [{ name: "pool" }, "VOLUME_PROTECTED", undefined],
    [{ name: "pool_tdata" }, "VOLUME_PROTECTED", undefined],
    [{ name: "thin-data" }, "VOLUME_PROTECTED", undefined],
  ] as const) {
    const request = { name: "data", newName: "new", ...changed };
    const match = {
      name: "InfraError",
      reason,
      ...(field === undefined ? {} : { violations: [{ field }] }),
    };
    await t.rejects(rename(request), match, JSON.stringify(changed));
    await t.rejects(planRename(request), match, "its plan is refused too");
  }
  t.same((await lvm.read()).value.volumes, before);
});

test("tags are set exactly, once, and without the gateway's own", async (t) => {
  const { setTags, planTags, find } = await createSubject(t);
  const request = { name: "data", tags: ["c", "b", "c"] };
  t.match((await planTags(request)).plan.changes, ["vg0/data gets the tags c", "vg0/data loses the tags a"]);
  t.match((await setTags(request)).volume, { tags: ["b", "c"] });
  t.same((await planTags(request)).steps, [], "nothing is left to do");
  t.match((await setTags(request)).volume, { tags: ["b", "c"] });
  t.match((await setTags({ name: "data" })).volume, { tags: [] });
  for (const [changed, match] of [
    [{ tags: ["a b"] }, { reason: "INVALID_FIELD", violations: [{ field: "tags[0]" }] }],
    [
      { tags: ["a", "hostplane-operation-1"] },
      { reason: "INVALID_FIELD", violations: [{ field: "tags[1]" }] },
    ],
    [{ tags: Array.from({ length: 257 }, (_, at) => `t${at}`) }, { reason: "INVALID_FIELD" }],
    [{ name: "next" }, { reason: "VOLUME_PROTECTED" }],
    [{ name: "none" }, { reason: "VOLUME_NOT_FOUND" }],
  ] as const) {
    await t.rejects(setTags({ ...request, ...changed, tags: [...("tags" in changed ? changed.tags : [])] }), {
      name: "InfraError",
      ...match,
    });
  }
  t.match(await find("hostplane-restore-1"), { tags: [operationTag("1"), "hostplane-volume=next"] });
});

test("nothing changes while an operation works on the volume, or on the new name", async (t) => {
  const busy = ["volumeGroups/vg0/volumes/data", "volumeGroups/vg0/volumes/taken"];
  const { snapshot, rename, setTags } = await createSubject(t, { busy });
  const inProgress = { name: "InfraError", reason: "OPERATION_IN_PROGRESS" };
  await t.rejects(snapshot({ source: "data", name: "snap" }), inProgress);
  await t.rejects(rename({ name: "data", newName: "new" }), inProgress);
  await t.rejects(rename({ name: uuid, newName: "taken" }), inProgress);
  await t.rejects(setTags({ name: "data" }), inProgress);
});

test("a renamed volume can be removed under its new name only", async (t) => {
  const { rename, changes, find } = await createSubject(t);
  await rename({ name: uuid, newName: "renamed" });
  await changes.remove.run(removeRequest({ name: uuid }), requester);
  t.ok(await find("renamed"), "removing the old name removes nothing");
  await changes.remove.run(removeRequest({ name: "renamed" }), requester);
  t.equal(await find("renamed"), undefined);
});
