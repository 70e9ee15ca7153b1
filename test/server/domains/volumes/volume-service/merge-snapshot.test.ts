import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { MergeSnapshotRequestSchema, VolumeService } from "../../../../../gen/hostplane/v1/volume_pb.ts";
import { createGateway, createHost, gib } from "../backups/backups-under-test.ts";
import { createVolumesUnderTest, requester } from "../volumes-under-test.ts";

/** Creates changes of a group with snapshots of a closed, an open, an inactive and a protected volume. */
async function createSubject(t: Test) {
  const lvm = createLvmSandbox({
    volumeGroups: [
      {
        name: "vg0",
        sizeBytes: 40n * gib,
        volumes: [
          ...["data", "open", "idle", "keep1"].flatMap((name) => [
            { name, sizeBytes: gib, open: name === "open" },
            { name: `${name}-snap`, sizeBytes: gib, snapshotOf: name },
          ]),
          { name: "pool", sizeBytes: 4n * gib, thinPool: true },
        ],
      },
    ],
  });
  t.teardown(() => lvm.close());
  await lvm.run({ kind: "deactivate", volumeGroupName: "vg0", name: "idle" });
  const { serviceChanges } = createVolumesUnderTest(
    lvm,
    [
      { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
      { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool" },
    ],
    undefined,
    ["keep*"],
  );
  return {
    lvm,
    planMerge: (init: MessageInitShape<typeof MergeSnapshotRequestSchema>) =>
      serviceChanges.mergeSnapshot.plan(create(MergeSnapshotRequestSchema, init), requester),
  };
}

test("the plan of a merge names what is lost, and when it happens", async (t) => {
  const { planMerge } = await createSubject(t);
  const { kind, resource, plan, steps, pointOfNoReturn } = await planMerge({ name: "data-snap" });
  t.equal(kind, "volumes.merge");
  t.equal(resource, "volumeGroups/vg0/volumes/data");
  t.same(plan.changes, ["vg0/data gets the content of its snapshot data-snap"]);
  t.same(plan.losses, [
    "everything written to vg0/data since data-snap was taken of it",
    "the snapshot vg0/data-snap, which is merged",
  ]);
  t.match(plan.facts.at(-1), { name: "waitsForActivation", value: "false" });
  t.match(steps[0]?.command, ["lvm", "lvconvert", "--mergesnapshot", "--background", "--", "vg0/data-snap"]);
  t.equal(pointOfNoReturn, 0);
  for (const [name, why] of [
    ["open", "open is in use"],
    ["idle", "it is inactive"],
  ]) {
    const later = await planMerge({ name: `${name}-snap` });
    t.match(later.plan.changes, [
      /gets the content/,
      new RegExp(`^since ${why}, this happens only when vg0/${name} is activated again`),
    ]);
  }
});

test("what cannot be merged is refused", async (t) => {
  const { lvm, planMerge } = await createSubject(t);
  await lvm.run({
    kind: "snapshot",
    volumeGroupName: "vg0",
    name: "second",
    originName: "open",
    tags: [],
    roomBytes: gib,
  });
  await lvm.run({ kind: "merge", volumeGroupName: "vg0", name: "open-snap", isThin: false });
  const thin = { volumeGroupName: "vg0", sizeBytes: gib, tags: [], thinPoolName: "pool" };
  await lvm.run({ kind: "create", name: "thin", ...thin });
  for (const [request, reason] of [
    [{ name: "" }, "INVALID_FIELD"],
    [{ name: "none" }, "VOLUME_NOT_FOUND"],
    [{ name: "data" }, "NOT_A_SNAPSHOT"],
    [{ name: "thin", deviceClass: "thin" }, "NOT_A_SNAPSHOT"],
    [{ name: "pool" }, "VOLUME_PROTECTED"],
    [{ name: "keep1-snap" }, "VOLUME_PROTECTED"],
    [{ name: "second" }, "VOLUME_PROTECTED"],
    [{ name: "open-snap" }, "VOLUME_NOT_FOUND"],
    [{ name: "data-snap", deviceClass: "none" }, "DEVICE_CLASS_NOT_FOUND"],
  ] as const) {
    await t.rejects(planMerge(request), { name: "InfraError", reason }, JSON.stringify(request));
  }
});

test("a merge restores the volume with its size, and waits for an activation while it is in use", async (t) => {
  const lvm = createLvmSandbox({
    volumeGroups: [
      { name: "vg0", sizeBytes: 8n * gib, volumes: [{ name: "data", sizeBytes: gib, open: true }] },
      { name: "vg1", sizeBytes: 8n * gib, volumes: [{ name: "pool", sizeBytes: 4n * gib, thinPool: true }] },
    ],
  });
  t.teardown(() => lvm.close());
  const { call, end } = await createGateway(t, await createHost(t, { lvm }));
  const { createVolume, createSnapshot, mergeSnapshot, getVolume, resizeVolume } = VolumeService.method;
  const deviceClass = "thin";
  await call(createVolume, { name: "thin", deviceClass, sizeBytes: gib, tags: ["t"] });
  const before = await call(getVolume, { name: "thin", deviceClass });
  await call(createSnapshot, { source: "thin", name: "snap", deviceClass });
  await call(resizeVolume, { name: "thin", deviceClass, sizeBytes: 2n * gib });
  const merged = await call(mergeSnapshot, { name: "snap", deviceClass });
  t.equal(merged.waitsForActivation, false);
  t.match(await end(merged.operation?.id ?? ""), {
    state: "completed",
    result: { waitsForActivation: false },
  });
  const { volume } = await call(getVolume, { name: "thin", deviceClass });
  t.match(volume, { sizeBytes: gib, uuid: before.volume?.uuid, tags: ["t"], merging: false });
  await t.rejects(call(getVolume, { name: "snap", deviceClass }), {
    name: "InfraError",
    reason: "VOLUME_NOT_FOUND",
  });

  await call(createSnapshot, { source: "data", name: "frozen" });
  const later = await call(mergeSnapshot, { name: "frozen" });
  t.equal(later.waitsForActivation, true);
  t.match(await end(later.operation?.id ?? ""), { state: "completed", result: { waitsForActivation: true } });
  t.match((await call(getVolume, { name: "data" })).volume, { merging: true });
  await t.rejects(call(createSnapshot, { source: "data", name: "other" }), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
  });
});
