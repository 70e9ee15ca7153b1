import { create, type DescMethodUnary, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import { test } from "tap";
import type { LogicalVolume } from "../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { ResourceHealth } from "../../../../../gen/hostplane/v1/inventory_pb.ts";
import { VolumeKind, VolumeOwner, VolumeService } from "../../../../../gen/hostplane/v1/volume_pb.ts";
import { createVolumeService } from "../../../../../server/domains/volumes/volume-service/volume-service.ts";
import { operationTag } from "../../../../../server/lvm/operation-marks.ts";
import { createCall } from "../../../rpc/call/call-under-test.ts";
import { groupOf, stateOf, volumeOf } from "../lvm-state.ts";
import { createVolumesUnderTest } from "../volumes-under-test.ts";

const { listVolumes, listThinPools, getVolume } = VolumeService.method;
const gib = 1n << 30n;
const uuid = "5c2a3e0e-7d0c-4a59-8f2b-1f6b4f0a9c11";

const deviceClasses = [
  { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool" },
  { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
  { name: "only-thin", volumeGroup: "vg1", default: false, spareGiB: 0, thinPool: "pool" },
  { name: "gone", volumeGroup: "vg9", default: false, spareGiB: 0 },
];

const device = { major: 253, minor: 7 };

function createSubject(volumes: readonly LogicalVolume[]) {
  const state = stateOf([groupOf("vg0", gib), groupOf("vg1", gib), groupOf("foreign", gib)], volumes);
  const snapshot = { value: state, readAtMs: performance.now(), revision: 1 };
  const read = async () => snapshot;
  const lvm = { ...createLvmSandbox(), read, readRecent: read, refresh: read };
  const { volumes: served, serviceChanges } = createVolumesUnderTest(lvm, deviceClasses);
  const { handlerOf } = createVolumeService(served, serviceChanges);
  return async <M extends DescMethodUnary>(method: M, request?: MessageInitShape<M["input"]>) => {
    const call = createCall({ method });
    return (await handlerOf(method)(create(method.input, request), call)) as MessageShape<M["output"]>;
  };
}

const pool = volumeOf("vg0", "pool", { kind: "thinPool", devicePaths: ["/dev/a", "/dev/b"] });
const thin = volumeOf("vg0", "thin", {
  kind: "thinVolume",
  thinPoolName: "pool",
  originName: "base",
  dataPercent: 12.5,
  active: true,
  open: true,
  device,
  tags: ["a=1"],
});
const snap = volumeOf("vg0", "snap", {
  kind: "snapshot",
  originName: "data",
  roomBytes: 8n << 20n,
  dataPercent: 100,
  health: "invalidSnapshot",
  devicePaths: ["/dev/a"],
  readOnly: true,
});

test("a volume has its use, origin, activation, device and devices", async (t) => {
  const call = createSubject([pool, thin, snap]);
  const { volumes } = await call(listVolumes);
  t.same(
    volumes.map(({ name }) => name),
    ["snap", "thin"],
    "ordered by name, without the pool",
  );
  t.match(volumes[0], {
    kind: VolumeKind.SNAPSHOT,
    origin: "data",
    dataPercent: 100,
    snapshotSpaceBytes: 8n << 20n,
    active: false,
    readOnly: true,
    devicePath: "",
    deviceNumber: "",
    physicalVolumes: ["/dev/a"],
    state: "invalidSnapshot",
    health: ResourceHealth.FAILED,
  });
  t.match(volumes[1], {
    resource: "volumeGroups/vg0/volumes/thin",
    kind: VolumeKind.THIN,
    sizeBytes: gib,
    dataPercent: 12.5,
    metadataPercent: undefined,
    origin: "base",
    thinPool: "pool",
    active: true,
    open: true,
    devicePath: "/dev/vg0/thin",
    deviceNumber: "253:7",
    physicalVolumes: ["/dev/a", "/dev/b"],
    tags: ["a=1"],
    state: "active",
    health: ResourceHealth.OK,
  });
});

test("a volume has the class that addresses it, whatever the order of the classes", async (t) => {
  const call = createSubject([
    pool,
    thin,
    snap,
    volumeOf("vg0", "other-thin", { kind: "thinVolume", thinPoolName: "other" }),
    volumeOf("vg1", "thick"),
    volumeOf("foreign", "hidden"),
  ]);
  const { volumes } = await call(listVolumes);
  t.same(
    volumes.map(({ name, deviceClass }) => [name, deviceClass]),
    [
      ["other-thin", "thick"],
      ["snap", "thick"],
      ["thin", "thin"],
      ["thick", ""],
    ],
    "groups without a class are not listed",
  );
});

test("the owner follows from the name and the tags", async (t) => {
  const restored = volumeOf("vg0", "hostplane-restore-0a9c11", {
    tags: [operationTag(uuid), "hostplane-volume=final", "b"],
    active: true,
    device,
  });
  const names = [uuid, `pvc-${uuid}`, "data", "pvc-data"];
  const call = createSubject([restored, ...names.map((name) => volumeOf("vg0", name))]);
  const owners = Object.fromEntries(
    (await call(listVolumes)).volumes.map(({ name, owner }) => [name, owner] as const),
  );
  t.same(owners, {
    [uuid]: VolumeOwner.TOPOLVM,
    [`pvc-${uuid}`]: VolumeOwner.CSI,
    data: VolumeOwner.UNSPECIFIED,
    "pvc-data": VolumeOwner.UNSPECIFIED,
    final: VolumeOwner.HOSTPLANE,
  });
  t.match(
    (await call(getVolume, { name: "final" })).volume,
    { operationId: uuid, tags: ["b"], active: false, devicePath: "" },
    "an incomplete volume has its final name and no device",
  );
});

test("filters select volumes, and each combination has its own answer", async (t) => {
  const call = createSubject([pool, thin, snap, volumeOf("vg0", uuid), volumeOf("vg1", "thin")]);
  const names = async (request: MessageInitShape<typeof listVolumes.input>) =>
    (await call(listVolumes, request)).volumes.map(({ volumeGroup, name }) => `${volumeGroup}/${name}`);
  t.same(await names({ deviceClass: "thin" }), ["vg0/thin"]);
  t.same(await names({ name: "thin" }), ["vg0/thin", "vg1/thin"]);
  t.same(await names({ owner: VolumeOwner.TOPOLVM }), [`vg0/${uuid}`]);
  t.same(await names({ origin: "data" }), ["vg0/snap"]);
  t.same(await names({ origin: "data", owner: VolumeOwner.CSI }), []);
  await t.rejects(names({ owner: 99 as VolumeOwner }), {
    name: "InfraError",
    reason: "INVALID_FIELD",
    violations: [{ field: "owner" }],
  });
  await t.rejects(names({ deviceClass: "none" }), { name: "InfraError", reason: "DEVICE_CLASS_NOT_FOUND" });
  await t.rejects(names({ deviceClass: "gone" }), { name: "InfraError", reason: "VOLUME_GROUP_GONE" });
});

test("a volume is found in the group of the class", async (t) => {
  const others = [
    volumeOf("vg1", "pool", { kind: "thinPool" }),
    volumeOf("vg1", "thin", { sizeBytes: 2n * gib }),
  ];
  const call = createSubject([pool, thin, ...others]);
  const sizeOf = async (deviceClass: string) =>
    (await call(getVolume, { name: "thin", deviceClass })).volume?.sizeBytes;
  t.equal(await sizeOf(""), gib);
  t.equal(await sizeOf("only-thin"), 2n * gib);
  await t.rejects(
    call(getVolume, { name: "pool" }),
    { name: "InfraError", reason: "VOLUME_NOT_FOUND" },
    "a pool is no volume",
  );
  await t.rejects(call(getVolume, {}), { name: "InfraError", reason: "INVALID_FIELD" });
});

test("callers share one list per state", async (t) => {
  const call = createSubject([thin]);
  t.equal(await call(listVolumes), await call(listVolumes));
  t.not(await call(listVolumes), await call(listVolumes, { name: "thin" }));
});

test("a thin pool has its use, classes and the sizes of its volumes", async (t) => {
  const facts = {
    kind: "thinPool",
    sizeBytes: 4n * gib,
    metadataSizeBytes: 8n << 20n,
    devicePaths: ["/dev/a", "/dev/b"],
    tags: ["fast"],
  } as const;
  const call = createSubject([
    volumeOf("vg1", "pool", { ...facts, health: "outOfDataSpace" }),
    volumeOf("vg0", "pool", { ...facts, active: true, dataPercent: 75.5, metadataPercent: 10 }),
    volumeOf("vg0", "spare", { kind: "thinPool" }),
    volumeOf("foreign", "pool", facts),
    thin,
    volumeOf("vg0", "thin-2", { kind: "thinVolume", thinPoolName: "pool", sizeBytes: 9n * gib }),
    volumeOf("vg1", "thin-3", { kind: "thinVolume", thinPoolName: "pool" }),
  ]);
  const { thinPools } = await call(listThinPools);
  t.same(
    thinPools.map(({ volumeGroup, name, deviceClasses }) => [volumeGroup, name, deviceClasses]),
    [
      ["vg0", "pool", ["thin"]],
      ["vg0", "spare", []],
      ["vg1", "pool", ["only-thin"]],
    ],
  );
  t.match(thinPools[0], {
    resource: "volumeGroups/vg0/volumes/pool",
    sizeBytes: 4n * gib,
    metadataSizeBytes: 8n << 20n,
    dataPercent: 75.5,
    metadataPercent: 10,
    volumeCount: 2,
    provisionedBytes: 10n * gib,
    active: true,
    physicalVolumes: ["/dev/a", "/dev/b"],
    tags: ["fast"],
    state: "active",
    health: ResourceHealth.OK,
  });
  t.match(thinPools[2], {
    dataPercent: undefined,
    metadataPercent: undefined,
    volumeCount: 1,
    active: false,
    state: "outOfDataSpace",
    health: ResourceHealth.FAILED,
  });
  t.same(
    (await call(listThinPools, { deviceClass: "only-thin" })).thinPools.map(({ volumeGroup }) => volumeGroup),
    ["vg1"],
  );
  t.same((await call(listThinPools, { deviceClass: "thick" })).thinPools, [], "a thick class has no pool");
  await t.rejects(call(listThinPools, { deviceClass: "gone" }), {
    name: "InfraError",
    reason: "VOLUME_GROUP_GONE",
  });
});
