import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import {
  CreateThinPoolRequestSchema,
  CreateVolumeRequestSchema,
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
  const { serviceChanges } = createVolumesUnderTest(lvm, [
    { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
    { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool" },
  ]);
  const { createThinPool, resizeThinPool, createVolume } = serviceChanges;
  const created = (init: MessageInitShape<typeof CreateThinPoolRequestSchema>) =>
    create(CreateThinPoolRequestSchema, { name: "pool", volumeGroup: "vg0", sizeBytes: gib, ...init });
  const resized = (init: MessageInitShape<typeof ResizeThinPoolRequestSchema>) =>
    create(ResizeThinPoolRequestSchema, { name: "pool", volumeGroup: "vg0", ...init });
  return {
    create: (init: Parameters<typeof created>[0]) => createThinPool.run(created(init), createCall()),
    planCreate: (init: Parameters<typeof created>[0]) => createThinPool.plan(created(init), requester),
    resize: (init: Parameters<typeof resized>[0]) => resizeThinPool.run(resized(init), createCall()),
    planResize: (init: Parameters<typeof resized>[0]) => resizeThinPool.plan(resized(init), requester),
    createThinVolume: () =>
      createVolume.run(
        create(CreateVolumeRequestSchema, { name: "one", deviceClass: "thin", sizeBytes: gib }),
        createCall(),
      ),
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
