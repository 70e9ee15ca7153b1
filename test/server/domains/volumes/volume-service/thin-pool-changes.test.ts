import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import {
  CreateThinPoolRequestSchema,
  CreateVolumeRequestSchema,
  DeleteThinPoolRequestSchema,
  DeleteVolumeRequestSchema,
  ResizeThinPoolRequestSchema,
} from "../../../../../gen/hostplane/v1/volume_pb.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { createVolumesUnderTest, requester } from "../volumes-under-test.ts";

const mib = 1n << 20n;
const gib = 1n << 30n;

function createSubject(t: Test) {
  const lvm = createLvmSandbox({
    volumeGroups: [
      { name: "vg0", sizeBytes: 10n * gib, volumes: [{ name: "data", sizeBytes: gib }] },
      { name: "other", sizeBytes: 10n * gib },
    ],
  });
  t.teardown(() => lvm.close());
  const { serviceChanges } = createVolumesUnderTest(
    lvm,
    [
      { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
      { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool" },
    ],
    undefined,
    ["kept*"],
  );
  const { createThinPool, resizeThinPool, deleteThinPool, createVolume, deleteVolume } = serviceChanges;
  const created = (init: MessageInitShape<typeof CreateThinPoolRequestSchema>) =>
    create(CreateThinPoolRequestSchema, { name: "pool", volumeGroup: "vg0", sizeBytes: gib, ...init });
  const resized = (init: MessageInitShape<typeof ResizeThinPoolRequestSchema>) =>
    create(ResizeThinPoolRequestSchema, { name: "pool", volumeGroup: "vg0", ...init });
  const deleted = (init: MessageInitShape<typeof DeleteThinPoolRequestSchema>) =>
    create(DeleteThinPoolRequestSchema, { name: "pool", volumeGroup: "vg0", ...init });
  return {
    create: (init: Parameters<typeof created>[0]) => createThinPool.run(created(init), createCall()),
    planCreate: (init: Parameters<typeof created>[0]) => createThinPool.plan(created(init), requester),
    resize: (init: Parameters<typeof resized>[0]) => resizeThinPool.run(resized(init), createCall()),
    planResize: (init: Parameters<typeof resized>[0]) => resizeThinPool.plan(resized(init), requester),
    delete: (init: Parameters<typeof deleted>[0]) => deleteThinPool.run(deleted(init), createCall()),
    planDelete: (init: Parameters<typeof deleted>[0]) => deleteThinPool.plan(deleted(init), requester),
    createThinVolume: (name = "one") =>
      createVolume.run(
        create(CreateVolumeRequestSchema, { name, deviceClass: "thin", sizeBytes: gib / 16n }),
        createCall(),
      ),
    deleteThinVolume: (name: string) =>
      deleteVolume.run(create(DeleteVolumeRequestSchema, { name, deviceClass: "thin" }), createCall()),
    freeBytes: async () => (await lvm.read()).value.volumeGroups[0]?.freeBytes ?? 0n,
  };
}

test("a device class can be used as soon as its pool is created", async (t) => {
  const { create: createPool, planCreate, createThinVolume, freeBytes } = createSubject(t);
  await t.rejects(createThinVolume(), { name: "InfraError", reason: "VOLUME_GROUP_GONE" });
  const { plan, steps } = await planCreate({ metadataSizeBytes: 5n * mib, tags: ["t"] });
  t.match(plan.changes, [/^the thin pool vg0\/pool is created with 1 GiB .*, tagged t$/]);
  t.match(plan.facts, [{ resource: "volumeGroups/vg0", value: `at least ${gib + 16n * mib}` }]);
  const sizes = ["--size", `${gib}b`, "--poolmetadatasize", `${8n * mib}b`];
  t.match(steps[0]?.command, ["lvm", "lvcreate", "--yes", "--type", "thin-pool", "--name", "pool", ...sizes]);
  const before = await freeBytes();
  t.match(await createPool({ metadataSizeBytes: 5n * mib, tags: ["t"] }), {
    thinPool: {
      name: "pool",
      deviceClasses: ["thin"],
      sizeBytes: gib,
      metadataSizeBytes: 8n * mib,
      volumeCount: 0,
      tags: ["t"],
    },
  });
  t.equal(before - (await freeBytes()), gib + 16n * mib);
  t.match(await createThinVolume(), { volume: { thinPool: "pool" } });
});

test("a pool grows in its data and its metadata, and never shrinks", async (t) => {
  const { create: createPool, resize, planResize } = createSubject(t);
  await createPool({});
  const request = { sizeBytes: 2n * gib, metadataSizeBytes: 16n * mib };
  const { plan, steps } = await planResize(request);
  t.match(plan.changes, [
    /^the metadata space .* grows from 4 MiB .* to 16 MiB/,
    /^the data space .* to 2 GiB/,
  ]);
  t.match(steps, [
    { command: ["lvm", "lvextend", "--poolmetadatasize", `${16n * mib}b`, "--", "vg0/pool"] },
    { command: ["lvm", "lvextend", "--size", `${2n * gib}b`, "--", "vg0/pool"] },
  ]);
  t.match(await resize(request), { thinPool: { sizeBytes: 2n * gib, metadataSizeBytes: 16n * mib } });
  t.same((await planResize(request)).steps, [], "nothing is left to do");
  for (const [init, reason] of [
    [{ sizeBytes: gib }, "SHRINK_NOT_ALLOWED"],
    [{ metadataSizeBytes: 8n * mib }, "SHRINK_NOT_ALLOWED"],
    [{ sizeBytes: 20n * gib }, "NO_SPACE"],
    [{ name: "data", sizeBytes: 2n * gib }, "VOLUME_NOT_FOUND"],
  ] as const) {
    await t.rejects(resize(init), { name: "InfraError", reason }, reason);
    await t.rejects(planResize(init), { name: "InfraError", reason }, "its plan is refused too");
  }
});

test("an invalid pool is refused, with the field's name", async (t) => {
  const { create: createPool, resize } = createSubject(t);
  for (const [init, field] of [
    [{ name: "" }, "name"],
    [{ name: "x_tdata" }, "name"],
    [{ name: "n".repeat(127 - "vg0-_tdata".length + 1) }, "name"],
    [{ volumeGroup: "other" }, "volume_group"],
    [{ volumeGroup: "" }, "volume_group"],
    [{ sizeBytes: 0n }, "size_bytes"],
    [{ sizeBytes: -1n }, "size_bytes"],
    [{ metadataSizeBytes: mib }, "metadata_size_bytes"],
    [{ metadataSizeBytes: 16n * gib }, "metadata_size_bytes"],
  ] as const) {
    await t.rejects(createPool(init), { name: "InfraError", violations: [{ field }] }, field);
  }
  await t.rejects(createPool({ name: "data" }), { name: "InfraError", reason: "VOLUME_EXISTS" });
  await t.rejects(createPool({ sizeBytes: 9n * gib }), { name: "InfraError", reason: "NO_SPACE" });
  await createPool({});
  for (const [init, field] of [
    [{}, "size_bytes"],
    [{ sizeBytes: -1n }, "size_bytes"],
    [{ metadataSizeBytes: -1n }, "metadata_size_bytes"],
    [{ volumeGroup: "other", sizeBytes: gib }, "volume_group"],
  ] as const) {
    await t.rejects(resize(init), { name: "InfraError", violations: [{ field }] }, field);
  }
});

test("a pool is removed once it contains no volumes", async (t) => {
  const subject = createSubject(t);
  const { planDelete, createThinVolume, deleteThinVolume, freeBytes } = subject;
  const before = await freeBytes();
  await subject.create({});
  await createThinVolume("one");
  await createThinVolume("another");
  const contains = /^vg0\/pool is protected: it contains another, one: remove them first$/;
  const refusal = { name: "InfraError", reason: "VOLUME_PROTECTED", message: contains };
  await t.rejects(subject.delete({}), refusal);
  await t.rejects(planDelete({}), refusal, "its plan is refused too");
  await deleteThinVolume("one");
  await deleteThinVolume("another");

  const { plan, steps } = await planDelete({});
  t.match(plan.changes, [
    "the thin pool vg0/pool is removed",
    "device class thin can create no volumes until it has a pool again",
  ]);
  t.match(plan.losses, [/^the thin pool vg0\/pool, 1 GiB .*, without volumes$/]);
  t.match(plan.facts, [{ resource: "volumeGroups/vg0/volumes/pool" }]);
  t.match(steps, [{ command: ["lvm", "lvremove", "--yes", "--select", /thin_count=0/, "--", "vg0/pool"] }]);
  t.same(await subject.delete({}), {});
  t.equal(await freeBytes(), before, "the spare for its metadata is gone too");
  await t.rejects(createThinVolume(), { name: "InfraError", reason: "VOLUME_GROUP_GONE" });
});

test("a refused removal of a pool names the reason", async (t) => {
  const subject = createSubject(t);
  for (let index = 1; index <= 12; index += 1) {
    await (index === 1 ? subject.create({}) : undefined);
    await subject.createThinVolume(`n${String(index).padStart(2, "0")}`);
  }
  await t.rejects(subject.delete({}), { message: /contains n01, .*, n10 and 2 more: remove them first$/ });
  await subject.create({ name: "kept-pool" });
  for (const [init, reason] of [
    [{ name: "absent" }, "VOLUME_NOT_FOUND"],
    [{ name: "data" }, "VOLUME_NOT_FOUND"],
    [{ name: "kept-pool" }, "VOLUME_PROTECTED"],
  ] as const) {
    await t.rejects(subject.delete(init), { name: "InfraError", reason }, reason);
  }
  for (const [init, field] of [
    [{ name: "" }, "name"],
    [{ name: "-x" }, "name"],
    [{ volumeGroup: "other" }, "volume_group"],
  ] as const) {
    await t.rejects(subject.delete(init), { name: "InfraError", violations: [{ field }] }, field);
  }
});
