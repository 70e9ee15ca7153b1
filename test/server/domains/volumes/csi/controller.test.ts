import { create } from "@bufbuild/protobuf";
import { test } from "tap";
import type { LogicalVolume, LvmState } from "../../../../../adapters/lvm/adapter.ts";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  Controller,
  CreateVolumeRequestSchema,
} from "../../../../../gen/csi/v1/csi_pb.ts";
import { blockCapability, createCsiUnderTest, gib, mib, mountCapability } from "./csi-under-test.ts";

const { method } = Controller;
const volumeCapabilities = [mountCapability()];
const name = "pvc-1";

test("a volume is created once, however often its creation is repeated", async (t) => {
  const { call, find } = await createCsiUnderTest(t);
  const request = { name, volumeCapabilities, capacityRange: { requiredBytes: gib, limitBytes: 2n * gib } };
  const first = await call(method.createVolume, request);
  t.match(first.volume, { volumeId: "vg0/pvc-1", capacityBytes: gib });
  t.same(first.volume?.accessibleTopology[0]?.segments, {
    "lvm.csi.test/host": "node-1",
    "lvm.csi.test/class-thin": "true",
  });
  t.same(await call(method.createVolume, request), first);
  t.match(await find(name), { thinPoolName: "pool", sizeBytes: gib });

  for (const other of [
    { capacityRange: { requiredBytes: 2n * gib } },
    { capacityRange: { requiredBytes: mib, limitBytes: 512n * mib } },
    { parameters: { deviceClass: "thick" } },
  ]) {
    await t.rejects(call(method.createVolume, { ...request, ...other }), {
      name: "InfraError",
      reason: "CSI_DIFFERS",
      code: "ALREADY_EXISTS",
    });
  }
});

test("a volume that was not created through CSI is neither returned nor removed", async (t) => {
  const { call, find } = await createCsiUnderTest(t);
  const parameters = { deviceClass: "thick" };
  await t.rejects(call(method.createVolume, { name: "other", volumeCapabilities, parameters }), {
    name: "InfraError",
    reason: "VOLUME_EXISTS",
  });
  await call(method.deleteVolume, { volumeId: "vg0/other" });
  t.ok(await find("other"));
  t.same((await call(method.listVolumes, {})).entries, []);
});

test("a volume that is only out of sight does not count as deleted", async (t) => {
  const { call, alter } = await createCsiUnderTest(t);
  await call(method.createVolume, { name, volumeCapabilities });
  const remove = () => call(method.deleteVolume, { volumeId: "vg0/pvc-1" });
  alter((state) => ({ ...state, volumeGroups: [], volumes: [] }));
  await t.rejects(remove(), { name: "InfraError", reason: "VOLUME_GROUP_GONE", code: "UNAVAILABLE" });
  await t.rejects(call(method.deleteSnapshot, { snapshotId: "vg0/csi-snap-1" }), {
    name: "InfraError",
    reason: "VOLUME_GROUP_GONE",
  });
  await call(method.deleteVolume, { volumeId: "vg9/pvc-1" });
  await call(method.deleteVolume, { volumeId: "none" });
  const renamed = (volume: LogicalVolume) => ({ ...volume, volumeGroupName: "vg9" });
  alter((state) => ({ ...state, volumes: state.volumes.map(renamed) }));
  await t.rejects(call(method.deleteVolume, { volumeId: "vg9/pvc-1" }), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
    message: /no longer has a device class/,
  });
  alter((state) => state);
  await remove();
});

test("names that LVM does not allow, or that are protected, get another name", async (t) => {
  const { call } = await createCsiUnderTest(t);
  const ids = new Set<string>();
  for (const each of [
    "a".repeat(128),
    "snapshot-1",
    "keep1",
    "with space",
    "with\ttab\nand line",
    "ä",
    "-a",
    "csi-a",
    "hostplane-a",
  ]) {
    const { volume } = await call(method.createVolume, { name: each, volumeCapabilities });
    t.match(volume?.volumeId, /^vg0\/csi-[0-9a-f]{32}$/, each);
    ids.add(volume?.volumeId ?? "");
  }
  t.equal(ids.size, 9);
  await t.rejects(call(method.createVolume, { name: "a".repeat(129), volumeCapabilities }), {
    name: "InfraError",
    message: /at most 128 bytes/,
  });
});

test("a request that the driver cannot meet is refused, with the field", async (t) => {
  const { call } = await createCsiUnderTest(t);
  const base = { name, volumeCapabilities };
  const invalid: readonly (readonly [object, string])[] = [
    [{ ...base, name: "" }, "name"],
    [{ ...base, name: "a\u0001" }, "name"],
    [{ ...base, name: "a\u0085" }, "name"],
    [{ ...base, volumeCapabilities: [] }, "volume_capabilities"],
    [{ ...base, volumeCapabilities: [{}] }, "volume_capabilities[0].access_mode"],
    [
      { ...base, volumeCapabilities: [mountCapability({ mode: AccessMode.MULTI_NODE_MULTI_WRITER })] },
      "volume_capabilities[0].access_mode",
    ],
    [
      { ...base, volumeCapabilities: [mountCapability({ fsType: "zfs" })] },
      "volume_capabilities[0].mount.fs_type",
    ],
    [
      { ...base, volumeCapabilities: [mountCapability({ mountFlags: ["remount"] })] },
      "volume_capabilities[0].mount.mount_flags[0]",
    ],
    [
      {
        ...base,
        volumeCapabilities: [
          { ...blockCapability, accessMode: { mode: AccessMode.SINGLE_NODE_READER_ONLY } },
        ],
      },
      "volume_capabilities[0].access_mode",
    ],
    [{ ...base, parameters: { deviceClass: "none" } }, "parameters[deviceClass]"],
    [{ ...base, parameters: { size: "1" } }, "parameters[size]"],
    [{ ...base, mutableParameters: { iops: "1" } }, "mutable_parameters[iops]"],
    [{ ...base, capacityRange: { requiredBytes: -1n } }, "capacity_range.required_bytes"],
    [{ ...base, capacityRange: { requiredBytes: 2n, limitBytes: 1n } }, "capacity_range.limit_bytes"],
    [{ ...base, volumeContentSource: {} }, "volume_content_source"],
  ];
  for (const [request, field] of invalid) {
    await t.rejects(call(method.createVolume, request), {
      name: "InfraError",
      reason: "INVALID_FIELD",
      violations: [{ field }],
    });
  }
  await t.rejects(
    call(method.createVolume, { ...base, capacityRange: { requiredBytes: 1n, limitBytes: mib } }),
    {
      name: "InfraError",
      reason: "CSI_CAPACITY",
      code: "OUT_OF_RANGE",
    },
  );
  const xfs = [mountCapability({ fsType: "xfs" })];
  await t.rejects(
    call(method.createVolume, { name, volumeCapabilities: xfs, capacityRange: { limitBytes: 100n * mib } }),
    { name: "InfraError", reason: "CSI_CAPACITY" },
  );
  await t.rejects(call(method.createVolume, { ...base, capacityRange: { requiredBytes: 100n * gib } }), {
    name: "InfraError",
    reason: "NO_SPACE",
    code: "RESOURCE_EXHAUSTED",
  });
  await t.rejects(
    call(method.createVolume, {
      ...base,
      accessibilityRequirements: { requisite: [{ segments: { "lvm.csi.test/host": "node-2" } }] },
    }),
    { name: "InfraError", reason: "CSI_TOPOLOGY", code: "RESOURCE_EXHAUSTED" },
  );
  const here = {
    "lvm.csi.test/host": "node-1",
    "lvm.csi.test/class-thick": "true",
    "topology.kubernetes.io/zone": "b",
  };
  await call(method.createVolume, {
    ...base,
    accessibilityRequirements: { requisite: [{ segments: here }] },
  });
});

test("an ID that is empty, or longer than the specification allows, is refused", async (t) => {
  const { call } = await createCsiUnderTest(t);
  for (const volumeId of ["", "a".repeat(129)]) {
    const invalid = { name: "InfraError", reason: "INVALID_FIELD", violations: [{ field: "volume_id" }] };
    await t.rejects(call(method.deleteVolume, { volumeId }), invalid);
    await t.rejects(call(method.controllerGetVolume, { volumeId }), invalid);
  }
  await call(method.deleteVolume, { volumeId: "a".repeat(128) });
});

test("a size is the smallest possible one within the range", async (t) => {
  const { call } = await createCsiUnderTest(t);
  const xfs = [mountCapability({ fsType: "xfs" })];
  const striped = { deviceClass: "striped" };
  const sizes: readonly (readonly [object, bigint])[] = [
    [{}, gib],
    [{ volumeCapabilities: xfs }, gib],
    [{ volumeCapabilities: xfs, capacityRange: { requiredBytes: 1n } }, 300n * mib],
    [{ capacityRange: { requiredBytes: 1n } }, 4n * mib],
    [{ capacityRange: { limitBytes: 10n * mib + 1n } }, 8n * mib],
    [{ capacityRange: { limitBytes: 5n * gib } }, gib],
    [{ parameters: striped, capacityRange: { requiredBytes: 13n * mib, limitBytes: 24n * mib } }, 24n * mib],
    [{ parameters: striped, capacityRange: { limitBytes: 30n * mib } }, 24n * mib],
  ];
  for (const [index, [more, sizeBytes]] of sizes.entries()) {
    const { volume } = await call(method.createVolume, { name: `v${index}`, volumeCapabilities, ...more });
    t.equal(volume?.capacityBytes, sizeBytes, JSON.stringify(Object.keys(more)));
  }
  for (const capacityRange of [
    { limitBytes: 4n * mib - 1n },
    { requiredBytes: 5n * mib, limitBytes: 7n * mib },
  ]) {
    await t.rejects(call(method.createVolume, { name, volumeCapabilities, capacityRange }), {
      name: "InfraError",
      reason: "CSI_CAPACITY",
    });
  }
  await t.rejects(
    call(method.createVolume, {
      name,
      volumeCapabilities,
      parameters: striped,
      capacityRange: { requiredBytes: 13n * mib, limitBytes: 20n * mib },
    }),
    { name: "InfraError", reason: "CSI_CAPACITY" },
    "LVM would round it up to 24 MiB",
  );
  await t.rejects(call(method.createVolume, { name: "v3", volumeCapabilities: xfs }), {
    name: "InfraError",
    reason: "CSI_DIFFERS",
  });
});

test("a snapshot is created once, and a volume is created from it and grows", async (t) => {
  const { call, find } = await createCsiUnderTest(t);
  const { volume } = await call(method.createVolume, { name, volumeCapabilities });
  const sourceVolumeId = volume?.volumeId ?? "";
  const { snapshot } = await call(method.createSnapshot, { name: "snapshot-1", sourceVolumeId });
  t.match(snapshot, { sourceVolumeId, sizeBytes: gib, readyToUse: true });
  t.ok((snapshot?.creationTime?.seconds ?? 0n) > 1_700_000_000n);
  t.same((await call(method.createSnapshot, { name: "snapshot-1", sourceVolumeId })).snapshot, snapshot);
  await call(method.createVolume, { name: "two", volumeCapabilities });
  await t.rejects(call(method.createSnapshot, { name: "snapshot-1", sourceVolumeId: "vg0/two" }), {
    name: "InfraError",
    reason: "CSI_DIFFERS",
  });
  await t.rejects(call(method.createSnapshot, { name: "snapshot-2", sourceVolumeId: "vg0/none" }), {
    name: "InfraError",
    reason: "VOLUME_NOT_FOUND",
  });

  const snapshotId = snapshot?.snapshotId ?? "";
  const volumeContentSource = { type: { case: "snapshot" as const, value: { snapshotId } } };
  const clone = { name: "clone", volumeCapabilities, volumeContentSource };
  const request = { ...clone, capacityRange: { requiredBytes: 2n * gib } };
  const cloned = await call(method.createVolume, request);
  t.equal(cloned.volume?.capacityBytes, 2n * gib);
  t.match(cloned.volume?.contentSource?.type, { case: "snapshot", value: { snapshotId } });
  t.same(await call(method.createVolume, request), cloned);
  t.match(await find("clone"), { readOnly: false });
  await t.rejects(call(method.createVolume, { ...request, volumeContentSource: undefined } as never), {
    name: "InfraError",
    reason: "CSI_DIFFERS",
  });
  await t.rejects(
    call(method.createVolume, { ...clone, name: "small", capacityRange: { limitBytes: 512n * mib } }),
    { name: "InfraError", reason: "CSI_CAPACITY" },
  );
  await t.rejects(
    call(method.createVolume, { ...clone, name: "thick", parameters: { deviceClass: "thick" } }),
    { name: "InfraError", violations: [{ field: "volume_content_source" }] },
  );

  t.equal((await call(method.listSnapshots, { sourceVolumeId })).entries.length, 1);
  t.same((await call(method.listSnapshots, { sourceVolumeId: "vg0/two" })).entries, []);
  await call(method.deleteVolume, { volumeId: sourceVolumeId });
  t.same(
    (await call(method.createSnapshot, { name: "snapshot-1", sourceVolumeId })).snapshot,
    snapshot,
    "its source is gone",
  );
  await call(method.deleteSnapshot, { snapshotId });
  await call(method.deleteSnapshot, { snapshotId });
  t.same((await call(method.listSnapshots, { snapshotId })).entries, []);
});

test("a clone whose creation was interrupted before it grew is completed", async (t) => {
  const { call, lvm, find } = await createCsiUnderTest(t);
  await call(method.createVolume, { name, volumeCapabilities });
  const volumeContentSource = { type: { case: "volume" as const, value: { volumeId: "vg0/pvc-1" } } };
  const request = {
    name: "clone",
    volumeCapabilities,
    volumeContentSource,
    capacityRange: { requiredBytes: 3n * gib },
  };
  await call(method.createVolume, request);
  const whole = await find("clone");
  await lvm.run({ kind: "remove", volumeGroupName: "vg0", name: "clone" });
  const tags = whole?.tags ?? [];
  await lvm.run({ kind: "snapshot", volumeGroupName: "vg0", name: "clone", originName: name, tags });
  t.equal((await find("clone"))?.sizeBytes, gib);
  t.equal((await call(method.createVolume, request)).volume?.capacityBytes, 3n * gib);
});

test("the plan of a thick clone shows how it is copied, and copies nothing", async (t) => {
  const { call, planners, lvm } = await createCsiUnderTest(t);
  const thick = { volumeCapabilities, parameters: { deviceClass: "thick" } };
  await call(method.createVolume, { name, ...thick });
  const before = (await lvm.read()).value;
  const plan = planners.find(({ service }) => service === Controller)?.plannerOf(method.createVolume);
  const planned = await plan?.(
    create(CreateVolumeRequestSchema, {
      name: "clone",
      volumeCapabilities,
      volumeContentSource: { type: { case: "volume", value: { volumeId: "vg0/pvc-1" } } },
    }),
    { signal: new AbortController().signal, peer: { lvmd: "backups" } },
  );
  t.match(planned, { kind: "volumes.clone", resource: "volumeGroups/vg0/volumes/clone" });
  t.match(planned?.plan.changes, [/^vg0\/clone, a clone of pvc-1, is created with 1 GiB/]);
  t.same(
    planned?.steps.map((step) => step.name),
    ["snapshot", "create", "copy", "release", "removeTags", "removeSnapshot"],
  );
  t.same((await lvm.read()).value, before);
});

test("a volume grows, and never shrinks", async (t) => {
  const { call } = await createCsiUnderTest(t);
  const { volume } = await call(method.createVolume, { name, volumeCapabilities });
  const volumeId = volume?.volumeId ?? "";
  const expand = (capacityRange: object) => call(method.controllerExpandVolume, { volumeId, capacityRange });
  t.match(await expand({ requiredBytes: 2n * gib }), {
    capacityBytes: 2n * gib,
    nodeExpansionRequired: true,
  });
  t.match(await expand({ requiredBytes: gib }), { capacityBytes: 2n * gib });
  t.match(await expand({ limitBytes: 3n * gib }), { capacityBytes: 2n * gib });
  t.match(
    await call(method.controllerExpandVolume, {
      volumeId,
      capacityRange: { requiredBytes: 3n * gib },
      volumeCapability: blockCapability,
    }),
    { capacityBytes: 3n * gib, nodeExpansionRequired: false },
    "a raw block device has no file system",
  );
  await t.rejects(expand({ requiredBytes: mib, limitBytes: gib }), {
    name: "InfraError",
    reason: "CSI_CAPACITY",
  });
  await t.rejects(expand({}), { name: "InfraError", reason: "INVALID_FIELD" });
});

test("a volume whose snapshot an operation reads is neither grown nor deleted for the moment", async (t) => {
  const { call, lvm } = await createCsiUnderTest(t);
  const parameters = { deviceClass: "thick" };
  const { volume } = await call(method.createVolume, { name, volumeCapabilities, parameters });
  const volumeId = volume?.volumeId ?? "";
  const snapshot = { volumeGroupName: "vg0", name: "hostplane-source-1" };
  const tags = ["hostplane-operation-7"];
  await lvm.run({ kind: "snapshot", ...snapshot, originName: name, tags, roomBytes: gib });
  const grow = (bytes: bigint) =>
    call(method.controllerExpandVolume, { volumeId, capacityRange: { requiredBytes: bytes } });
  const isPending = {
    name: "InfraError",
    code: "ABORTED",
    message: /^operation 7 reads a snapshot of vg0\/pvc-1/,
  };
  await t.rejects(grow(2n * gib), isPending);
  await t.rejects(call(method.deleteVolume, { volumeId }), isPending);
  t.match(await grow(gib), { capacityBytes: gib }, "it is large enough");
  await lvm.run({ kind: "remove", ...snapshot });
  t.match(await grow(2n * gib), { capacityBytes: 2n * gib });
  await call(method.deleteVolume, { volumeId });
});

test("lists have pages, and a token that is none is ABORTED", async (t) => {
  const { call } = await createCsiUnderTest(t);
  for (const each of ["a", "b", "c"]) {
    await call(method.createVolume, { name: each, volumeCapabilities });
  }
  const seen: string[] = [];
  let startingToken = "";
  do {
    const page = await call(method.listVolumes, { maxEntries: 2, startingToken });
    seen.push(...page.entries.map(({ volume }) => volume?.volumeId ?? ""));
    await call(method.deleteVolume, { volumeId: "vg0/b" });
    startingToken = page.nextToken;
  } while (startingToken !== "");
  t.same(seen, ["vg0/a", "vg0/b", "vg0/c"]);
  await t.rejects(call(method.listVolumes, { startingToken: "x" }), {
    name: "InfraError",
    reason: "CSI_TOKEN",
    code: "ABORTED",
  });
  await t.rejects(call(method.listVolumes, { maxEntries: -1 }), {
    name: "InfraError",
    reason: "INVALID_FIELD",
  });
});

test("the capacity is that of the device class, on this host only", async (t) => {
  const { call } = await createCsiUnderTest(t);
  t.equal((await call(method.getCapacity, {})).availableCapacity, 30n * gib);
  const thick = { parameters: { deviceClass: "thick" } };
  t.equal((await call(method.getCapacity, thick)).availableCapacity, 28n * gib);
  const { availableCapacity, maximumVolumeSize } = await call(method.getCapacity, {
    parameters: { deviceClass: "mirrored" },
  });
  // Of three devices with 255 extents, two hold a copy each, and their metadata an extent.
  t.equal(availableCapacity, 254n * 4n * mib);
  t.equal(maximumVolumeSize, availableCapacity);
  const elsewhere = { accessibleTopology: { segments: { "lvm.csi.test/host": "node-2" } } };
  t.equal((await call(method.getCapacity, elsewhere)).availableCapacity, 0n);
});

/** Returns a state whose thin pools are altered. */
const withPools =
  (pool: Partial<LogicalVolume>) =>
  (state: LvmState): LvmState => ({
    ...state,
    volumes: state.volumes.map((one) => (one.kind === "thinPool" ? { ...one, ...pool } : one)),
  });

test("there is no capacity where nothing can be created, and no fraction of an extent", async (t) => {
  const { call, alter } = await createCsiUnderTest(t);
  const capacity = async (deviceClass: string) =>
    (await call(method.getCapacity, { parameters: { deviceClass } })).availableCapacity;
  for (const pool of [
    { metadataPercent: 96 },
    { dataPercent: 100 },
    { health: "outOfDataSpace" },
    { health: "metadataReadOnly" },
  ] as const) {
    alter(withPools(pool));
    t.equal(await capacity("thin"), 0n, JSON.stringify(pool));
    await t.rejects(call(method.createVolume, { name, volumeCapabilities }), {
      name: "InfraError",
      reason: "NO_SPACE",
    });
  }
  alter((state) => ({
    ...state,
    volumeGroups: state.volumeGroups.map((group) => ({ ...group, missingPvCount: 1 })),
  }));
  t.equal(await capacity("thick"), 0n);
  alter((state) => ({ ...state, volumeGroups: [] }));
  t.equal(await capacity("thick"), 0n, "the group is missing");
  alter(withPools({ sizeBytes: gib + 1n }));
  t.match(await call(method.getCapacity, {}), {
    availableCapacity: 3n * gib + 3n,
    maximumVolumeSize: 3n * gib,
    minimumVolumeSize: 4n * mib,
  });
  const xfs = [mountCapability({ fsType: "xfs" })];
  t.equal((await call(method.getCapacity, { volumeCapabilities: xfs })).minimumVolumeSize, 300n * mib);
});

test("a volume whose thin pool has failed is abnormal", async (t) => {
  const { call, alter } = await createCsiUnderTest(t);
  await call(method.createVolume, { name, volumeCapabilities });
  const read = async () => {
    const { status } = await call(method.controllerGetVolume, { volumeId: "vg0/pvc-1" });
    const { entries } = await call(method.listVolumes, {});
    t.same(entries[0]?.status?.volumeCondition, status?.volumeCondition);
    return status?.volumeCondition;
  };
  t.match(await read(), { abnormal: false });
  for (const [pool, fault] of [
    [{ dataPercent: 100 }, "full"],
    [{ health: "metadataReadOnly" }, "metadataReadOnly"],
    [{ health: "failed" }, "failed"],
  ] as const) {
    alter(withPools(pool));
    t.match(await read(), {
      abnormal: true,
      message: `the thin pool vg0/pool of volume vg0/pvc-1 is ${fault}`,
    });
  }
});

test("while an operation works on a volume, its changes are ABORTED", async (t) => {
  const { call } = await createCsiUnderTest(t, { busy: ["volumeGroups/vg0/volumes/pvc-1"] });
  await t.rejects(call(method.createVolume, { name, volumeCapabilities }), {
    name: "InfraError",
    reason: "CSI_PENDING",
    code: "ABORTED",
  });
});

test("capabilities are confirmed only if the driver supports them", async (t) => {
  const { call } = await createCsiUnderTest(t);
  const { volume } = await call(method.createVolume, { name, volumeCapabilities });
  const volumeId = volume?.volumeId ?? "";
  const validate = (capabilities: typeof volumeCapabilities, parameters = {}) =>
    call(method.validateVolumeCapabilities, { volumeId, volumeCapabilities: capabilities, parameters });
  t.equal((await validate([blockCapability])).confirmed?.volumeCapabilities.length, 1);
  const refused = await validate([mountCapability({ mode: AccessMode.MULTI_NODE_READER_ONLY })]);
  t.equal(refused.confirmed, undefined);
  t.match(refused.message, /MULTI_NODE_READER_ONLY is not supported/);
  t.ok((await validate([blockCapability], { deviceClass: "thin" })).confirmed);
  for (const deviceClass of ["thick", "none"]) {
    t.match(await validate([blockCapability], { deviceClass }), {
      confirmed: undefined,
      message: /device class/,
    });
  }
});
