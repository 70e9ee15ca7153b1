import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import {
  CloneVolumeRequestSchema,
  CreateVolumeRequestSchema,
  DeleteVolumeRequestSchema,
  ResizeVolumeRequestSchema,
} from "../../../../../gen/hostplane/v1/volume_pb.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { createVolumesUnderTest, requester } from "../volumes-under-test.ts";

const mib = 1n << 20n;
const gib = 1n << 30n;

/** Creates a group with volumes of all kinds, and a thin pool that is used to the given percentages. */
function createSubject(
  t: Test,
  pool: { readonly dataPercent?: number; readonly metadataPercent?: number } = {},
) {
  const lvm = createLvmSandbox({
    volumeGroups: [
      {
        name: "vg0",
        sizeBytes: 20n * gib,
        volumes: [
          { name: "data", sizeBytes: 2n * gib, open: true },
          { name: "snap", sizeBytes: gib, snapshotOf: "data" },
          { name: "used-snap", sizeBytes: gib, snapshotOf: "data", open: true },
          { name: "keep1", sizeBytes: gib },
          { name: "idle", sizeBytes: gib },
          { name: "pool", sizeBytes: 4n * gib, thinPool: true },
        ],
      },
    ],
  });
  t.teardown(() => lvm.close());
  const deviceClasses = [
    { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
    { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool", overprovision: 2 },
  ];
  const filled: typeof lvm = {
    ...lvm,
    read: async (signal) => withPool(await lvm.read(signal)),
    refresh: async (signal) => withPool(await lvm.refresh(signal)),
  };
  function withPool(snapshot: Awaited<ReturnType<typeof lvm.read>>) {
    const volumes = snapshot.value.volumes.map((one) =>
      one.kind === "thinPool" ? { ...one, ...pool } : one,
    );
    return { ...snapshot, value: { ...snapshot.value, volumes } };
  }
  const operations = { assertFree: async () => {} };
  const { serviceChanges } = createVolumesUnderTest(filled, deviceClasses, operations, ["keep*"]);
  const { createVolume, cloneVolume, deleteVolume, resizeVolume } = serviceChanges;
  const clone = (init: MessageInitShape<typeof CloneVolumeRequestSchema>) =>
    create(CloneVolumeRequestSchema, init);
  const remove = (init: MessageInitShape<typeof DeleteVolumeRequestSchema>) =>
    create(DeleteVolumeRequestSchema, init);
  const resize = (init: MessageInitShape<typeof ResizeVolumeRequestSchema>) =>
    create(ResizeVolumeRequestSchema, init);
  return {
    lvm,
    create: (init: MessageInitShape<typeof CreateVolumeRequestSchema>) =>
      createVolume.run(create(CreateVolumeRequestSchema, init), createCall()),
    clone: (init: Parameters<typeof clone>[0]) => cloneVolume.run(clone(init), createCall()),
    planClone: (init: Parameters<typeof clone>[0]) => cloneVolume.plan(clone(init), requester),
    remove: (init: Parameters<typeof remove>[0]) => deleteVolume.run(remove(init), createCall()),
    planRemove: (init: Parameters<typeof remove>[0]) => deleteVolume.plan(remove(init), requester),
    resize: (init: Parameters<typeof resize>[0]) => resizeVolume.run(resize(init), createCall()),
    planResize: (init: Parameters<typeof resize>[0]) => resizeVolume.plan(resize(init), requester),
    find: async (name: string) => (await lvm.read()).value.volumes.find((one) => one.name === name),
  };
}

test("a thick clone is planned with its snapshot, the copy and the space for both", async (t) => {
  const { planClone } = createSubject(t);
  const { kind, plan, steps } = await planClone({
    source: "data",
    name: "new",
    snapshotSpaceBytes: 64n * mib,
    tags: ["t"],
  });
  t.equal(kind, "volumes.clone");
  t.match(plan.changes, [
    /^vg0\/new, a clone of data, is created with 2 GiB .*, and copied from a snapshot with space for 64 MiB .* of changes, tagged t$/,
  ]);
  t.match(plan.facts.at(-1), { name: "freeBytes", value: `at least ${2n * gib + 64n * mib}` });
  t.same(
    steps.map(({ name }) => name),
    ["snapshot", "create", "copy", "release", "removeTags", "removeSnapshot"],
  );
  t.match(steps[2]?.command, ["dd", "bs=4M", `count=${2n * gib}`]);
});

test("a snapshot is copied itself, unless it can be written and is in use", async (t) => {
  const { planClone } = createSubject(t);
  const { steps } = await planClone({ source: "snap", name: "new", sizeBytes: 3n * gib });
  t.same(
    steps.map(({ name }) => name),
    ["create", "copy", "release", "removeTags"],
  );
  await t.rejects(planClone({ source: "used-snap", name: "new" }), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
    message: /LVM cannot create a snapshot of it/,
  });
});

test("a thin clone exists at once, and does not depend on its source", async (t) => {
  const { create: createOne, clone, planClone, remove, find } = createSubject(t);
  const deviceClass = "thin";
  await createOne({ name: "one", deviceClass, sizeBytes: gib });
  const request = { source: "one", name: "two", deviceClass, sizeBytes: 2n * gib };
  t.match((await planClone(request)).plan.changes, [/^vg0\/two, a clone of one, is created with 2 GiB/]);
  t.match(await clone(request), {
    volume: { name: "two", origin: "one", sizeBytes: 2n * gib, active: true, readOnly: false },
    operation: undefined,
  });
  await remove({ name: "one", deviceClass });
  t.match(await find("two"), { originName: undefined });
});

test("an invalid clone is refused, with the field's name", async (t) => {
  const { planClone, clone, create: createOne } = createSubject(t);
  await createOne({ name: "one", deviceClass: "thin", sizeBytes: gib });
  for (const [changed, reason, field] of [
    [{ name: "snapshot1" }, "INVALID_FIELD", "name"],
    [{ name: "keep9" }, "INVALID_FIELD", "name"],
    [{ source: "" }, "INVALID_FIELD", "source"],
    [{ sizeBytes: -1n }, "INVALID_FIELD", "size_bytes"],
    [{ snapshotSpaceBytes: -1n }, "INVALID_FIELD", "snapshot_space_bytes"],
    [{ tags: ["a b"] }, "INVALID_FIELD", "tags[0]"],
    [{ name: "idle" }, "VOLUME_EXISTS", undefined],
    [{ source: "none" }, "VOLUME_NOT_FOUND", undefined],
    [{ source: "pool" }, "VOLUME_PROTECTED", undefined],
    [{ source: "one" }, "VOLUME_PROTECTED", undefined],
    [{ sizeBytes: gib }, "VOLUME_TOO_SMALL", undefined],
    [{ sizeBytes: 9n * gib }, "NO_SPACE", undefined],
    [{ deviceClass: "thin", source: "one", snapshotSpaceBytes: 1n }, "INVALID_FIELD", "snapshot_space_bytes"],
    [{ deviceClass: "thin", source: "one", sizeBytes: 1n }, "VOLUME_TOO_SMALL", undefined],
  ] as const) {
    const { tags = [], ...others } = { tags: undefined, ...changed };
    const request = { source: "data", name: "new", ...others, tags: [...tags] };
    const match = { name: "InfraError", reason, ...(field === undefined ? {} : { violations: [{ field }] }) };
    await t.rejects(planClone(request), match, JSON.stringify(reason));
    await t.rejects(clone(request), match, "the call is refused too");
  }
});

test("an inactive volume is neither copied nor wiped", async (t) => {
  const { lvm, planClone, planRemove, planResize } = createSubject(t);
  await lvm.run({ kind: "deactivate", volumeGroupName: "vg0", name: "idle" });
  const inactive = { name: "InfraError", reason: "VOLUME_INACTIVE", message: /lvchange -ay vg0\/idle/ };
  await t.rejects(planClone({ source: "idle", name: "new" }), inactive);
  await t.rejects(planRemove({ name: "idle", wipe: true }), inactive);
  await t.rejects(planResize({ name: "idle", sizeBytes: 2n * gib, resizeFileSystem: true }), inactive);
});

for (const [what, pool] of [
  ["is full", { dataPercent: 100 }],
  ["has nearly no metadata space left", { metadataPercent: 96 }],
] as const) {
  test(`nothing is added to a thin pool that ${what}`, async (t) => {
    const { create: createOne, clone } = createSubject(t, pool);
    const refused = { name: "InfraError", reason: "NO_SPACE", message: `thin pool vg0/pool ${what}` };
    await t.rejects(createOne({ name: "one", deviceClass: "thin", sizeBytes: gib }), refused);
    await t.rejects(clone({ source: "none", name: "two", deviceClass: "thin" }), {
      name: "InfraError",
      reason: "VOLUME_NOT_FOUND",
    });
  });
}

test("the plan of wiping says what is lost and how", async (t) => {
  const { planRemove, remove } = createSubject(t);
  const { kind, plan, steps, pointOfNoReturn } = await planRemove({ name: "idle", wipe: true });
  t.equal(kind, "volumes.wipe");
  t.same(plan.changes, ["vg0/idle is wiped (overwritten with zeros) and removed"]);
  t.match(plan.losses, [/^all data on vg0\/idle/]);
  t.match(steps, [{ command: ["dd", "bs=4M"] }, { command: ["lvm", "lvremove"] }]);
  t.equal(pointOfNoReturn, 0);
  for (const wipe of [true, false]) {
    await t.rejects(planRemove({ name: "keep1", wipe }), { name: "InfraError", reason: "VOLUME_PROTECTED" });
    await t.rejects(
      planRemove({ name: "data", wipe }),
      { name: "InfraError", reason: "VOLUME_PROTECTED" },
      "it has snapshots",
    );
    await t.rejects(planRemove({ name: "used-snap", wipe }), { name: "InfraError", reason: "VOLUME_IN_USE" });
    await t.rejects(planRemove({ name: "none", wipe }), { name: "InfraError", reason: "VOLUME_NOT_FOUND" });
    await t.rejects(planRemove({ name: "x_tdata", wipe }), {
      name: "InfraError",
      reason: "VOLUME_PROTECTED",
    });
  }
  await remove({ name: "idle" });
  await t.rejects(remove({ name: "idle" }), { name: "InfraError", reason: "VOLUME_NOT_FOUND" });
});

test("a volume grows, but never shrinks, and not for a file system that it does not contain", async (t) => {
  const { resize } = createSubject(t);
  await t.rejects(resize({ name: "idle", sizeBytes: 2n * gib, resizeFileSystem: true }), {
    name: "InfraError",
    reason: "FILE_SYSTEM_NOT_RESIZABLE",
    message: "vg0/idle contains no file system",
  });
  t.match(await resize({ name: "idle", sizeBytes: 2n * gib }), { volume: { sizeBytes: 2n * gib } });
  await t.rejects(resize({ name: "idle", sizeBytes: gib }), {
    name: "InfraError",
    reason: "SHRINK_NOT_ALLOWED",
  });
});

test("the plan of growing a mounted file system names its type, mount point and command", async (t) => {
  const lvm = createLvmSandbox({
    volumeGroups: [
      { name: "vg0", sizeBytes: 9n * gib, volumes: [{ name: "data", sizeBytes: gib, open: true }] },
    ],
  });
  t.teardown(() => lvm.close());
  const { serviceChanges } = createVolumesUnderTest(lvm, [
    { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
  ]);
  const request = create(ResizeVolumeRequestSchema, {
    name: "data",
    sizeBytes: 2n * gib,
    resizeFileSystem: true,
  });
  const { plan, steps } = await serviceChanges.resizeVolume.plan(request, requester);
  t.match(plan.changes, [
    /^vg0\/data grows from 1 GiB/,
    "its ext4 file system grows to the size of the volume, while it is mounted at /sandbox/vg0/data",
  ]);
  t.match(plan.facts, [
    {},
    {},
    {},
    {},
    { name: "fileSystem", value: "ext4" },
    { name: "isMounted", value: "true" },
  ]);
  t.match(steps[1], { name: "growFileSystem", command: ["resize2fs", "/dev/vg0/data"] });
  t.match(await serviceChanges.resizeVolume.run(request, createCall()), { volume: { sizeBytes: 2n * gib } });
  const again = await serviceChanges.resizeVolume.plan(request, requester);
  t.same(
    again.steps.map(({ name }) => name),
    ["growFileSystem"],
  );
});
