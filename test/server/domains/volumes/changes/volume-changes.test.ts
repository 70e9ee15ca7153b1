import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LvmAdapter, LvmState, LvmStep } from "../../../../../adapters/lvm/adapter.ts";
import { createLvmSandbox } from "../../../../../adapters/lvm/sandbox.ts";
import { operationReasons } from "../../../../../server/operations/reasons.ts";
import { groupOf, stateOf, volumeOf } from "../lvm-state.ts";
import { createVolumesUnderTest, removeRequest, requester, resizeRequest } from "../volumes-under-test.ts";

const gib = 1n << 30n;
const deviceClasses = [
  { name: "thick", volumeGroup: "vg0", default: true, spareGiB: 0 },
  { name: "thin", volumeGroup: "vg0", default: false, spareGiB: 0, thinPool: "pool" },
];

/** Creates an LVM with a thin pool of 10 GiB that, like a real one, accepts thin volumes of any size. */
function createThinLvm(): LvmAdapter {
  const pool = volumeOf("vg0", "pool", { kind: "thinPool", sizeBytes: 10n * gib });
  let state: LvmState = stateOf([groupOf("vg0", 20n * gib)], [pool]);
  return {
    kind: "sandbox",
    read: async () => ({ value: state, revision: 1, readAtMs: 0 }),
    readRecent: async () => ({ value: state, revision: 1, readAtMs: 0 }),
    refresh: async () => ({ value: state, revision: 1, readAtMs: 0 }),
    subscribe: () => () => {},
    commandOf: () => [],
    devices: async () => [],
    runOnDevices: async () => {},
    async run(step: LvmStep) {
      await new Promise((resolve) => setImmediate(resolve));
      if (step.kind === "create") {
        const facts = { kind: "thinVolume", thinPoolName: "pool", sizeBytes: step.sizeBytes } as const;
        state = { ...state, volumes: [...state.volumes, volumeOf("vg0", step.name, facts)] };
      }
    },
    data: createLvmSandbox().data,
    version: async () => undefined,
    inspect: async () => ({ version: undefined, findings: [] }),
    close: async () => {},
  };
}

const createThinVolumes = () => createVolumesUnderTest(createThinLvm(), deviceClasses).changes;

test("concurrent creates never exceed the overprovisioning limit of a pool", async (t) => {
  const changes = createThinVolumes();
  const creates = ["a", "b", "c", "d"].map((name) =>
    changes.create.run({ name, size: { gib: 8n }, tags: [], deviceClass: "thin" }, requester),
  );
  const results = await Promise.allSettled(creates);
  t.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  t.match(
    results.filter(({ status }) => status === "rejected"),
    [1, 2, 3].map(() => ({ reason: { reason: "NO_SPACE" } })),
  );
});

test("a thin volume can be resized only through the class of its pool", async (t) => {
  const changes = createThinVolumes();
  await changes.create.run({ name: "a", size: { gib: 8n }, tags: [], deviceClass: "thin" }, requester);
  await t.rejects(
    changes.resize.run(resizeRequest({ name: "a", sizeGb: 9n, deviceClass: "thick" }), requester),
    {
      name: "InfraError",
      reason: "VOLUME_PROTECTED",
      message: /thin volume of pool/,
    },
  );
  await changes.resize.run(resizeRequest({ name: "a", sizeGb: 9n, deviceClass: "thin" }), requester);
});

test("the number of tags is limited", async (t) => {
  const tags = Array.from({ length: 257 }, (_, index) => `t${index}`);
  await t.rejects(
    createThinVolumes().create.run({ name: "a", size: { gib: 1n }, tags, deviceClass: "" }, requester),
    {
      name: "InfraError",
      reason: "INVALID_FIELD",
      message: "tags: must have at most 256 entries, has 257",
    },
  );
});

test("a plan reads LVM again, and rejects what LVM would reject", async (t) => {
  const closed = stateOf([groupOf("vg0", 20n * gib)], [volumeOf("vg0", "data")]);
  const opened = stateOf(
    [{ ...groupOf("vg0", 20n * gib), missingPvCount: 1 }],
    [volumeOf("vg0", "data", { open: true, active: true })],
  );
  const lvm: LvmAdapter = {
    ...createThinLvm(),
    read: async () => ({ value: closed, revision: 1, readAtMs: 0 }),
    refresh: async () => ({ value: opened, revision: 2, readAtMs: 1 }),
    run: () => Promise.reject(new TypeError("no command may run")),
  };
  const { changes } = createVolumesUnderTest(lvm, deviceClasses);
  await t.rejects(changes.remove.plan(removeRequest({ name: "data" }), requester), {
    name: "InfraError",
    reason: "VOLUME_IN_USE",
    resource: "volumeGroups/vg0/volumes/data",
  });
  const lacking = { name: "InfraError", reason: "VOLUME_GROUP_GONE", message: /lacks 1 of its physical/ };
  const volume = { size: { gib: 2n }, tags: [], deviceClass: "" };
  await t.rejects(changes.create.plan({ ...volume, name: "new" }, requester), lacking);
  await t.rejects(changes.resize.plan(resizeRequest({ name: "data", sizeGb: 2n }), requester), lacking);
  t.match(
    await changes.resize.plan(resizeRequest({ name: "data", sizeGb: 1n, deviceClass: "" }), requester),
    {
      steps: [],
    },
  );
});

test("a plan shows what is lost with a snapshot, and the pool of a new thin volume", async (t) => {
  const snapshot = volumeOf("vg0", "snap", { kind: "snapshot", originName: "data" });
  const pool = volumeOf("vg0", "pool", { kind: "thinPool", sizeBytes: 10n * gib });
  const state = stateOf([groupOf("vg0", 20n * gib)], [volumeOf("vg0", "data"), snapshot, pool]);
  const snapshotOf = async () => ({ value: state, revision: 1, readAtMs: 0 });
  const lvm = { ...createThinLvm(), read: snapshotOf, refresh: snapshotOf };
  const { changes } = createVolumesUnderTest(lvm, deviceClasses);
  t.match((await changes.remove.plan(removeRequest({ name: "snap" }), requester)).plan.losses, [
    "vg0/snap, a snapshot of data: the data of data at the time of the snapshot",
  ]);
  const thin = { name: "a", size: { gib: 2n }, tags: ["x", "y=1"], deviceClass: "thin" };
  t.match((await changes.create.plan(thin, requester)).plan.changes, [
    "vg0/a is created with 2 GiB (2147483648 bytes) in thin pool vg0/pool, tagged x, y=1",
  ]);
});

test("a volume that an operation works on, or has created, cannot be changed", async (t) => {
  const busy = {
    async assertFree(resource: string) {
      throw new InfraError(operationReasons.OPERATION_IN_PROGRESS, `operation 1 works on ${resource}`);
    },
  };
  const refused = { name: "InfraError", reason: "OPERATION_IN_PROGRESS", message: /vg0\/volumes\/data/ };
  const data = { name: "data", deviceClass: "", size: { gib: 2n }, tags: [] };
  const { changes: working } = createVolumesUnderTest(createThinLvm(), deviceClasses, busy);
  await t.rejects(working.create.run(data, requester), refused);
  await t.rejects(working.resize.run(resizeRequest({ name: "data", sizeGb: 2n }), requester), refused);
  await t.rejects(working.remove.run(removeRequest({ name: "data" }), requester), refused);
  await t.rejects(working.remove.plan(removeRequest({ name: "data" }), requester), refused);

  const lvm = createThinLvm();
  const tags = ["hostplane-operation-7", "hostplane-volume=data"];
  const restoring = volumeOf("vg0", "hostplane-restore-0123456789ab", { tags, active: true });
  const state = stateOf([groupOf("vg0", 20n * gib)], [restoring]);
  const read = async () => ({ value: state, revision: 1, readAtMs: 0 });
  const { changes } = createVolumesUnderTest({ ...lvm, read, refresh: read }, deviceClasses);
  const mine = { name: "InfraError", reason: "VOLUME_PROTECTED", message: /created by operation 7/ };
  await t.rejects(changes.remove.run(removeRequest({ name: "data" }), requester), mine);
  await t.rejects(changes.resize.run(resizeRequest({ name: "data", sizeGb: 2n }), requester), mine);
  await t.rejects(changes.create.run(data, requester), { name: "InfraError", reason: "VOLUME_EXISTS" });
});

test("a volume is rejected only after LVM was read again", async (t) => {
  const lvm = createThinLvm();
  let reads = 0;
  const volumesWith = (ageMs: number) => {
    const old = async () => ({
      value: stateOf([], []),
      revision: 1,
      readAtMs: performance.now() - ageMs,
    });
    const refresh = () => {
      reads += 1;
      return lvm.refresh();
    };
    const stale = { ...lvm, read: old, readRecent: old, refresh };
    return createVolumesUnderTest(stale, deviceClasses);
  };
  // The disks of the group are back, but the cached state does not show that yet.
  const old = volumesWith(60_000);
  t.equal((await old.volumes.resolve("", requester.signal)).resolved.group.name, "vg0");
  t.equal(
    (await old.changes.create.run({ name: "a", size: { gib: 1n }, tags: [], deviceClass: "thin" }, requester))
      .name,
    "a",
  );
  const readsBefore = reads;
  const recent = volumesWith(0);
  await t.rejects(recent.volumes.resolve("", requester.signal), {
    name: "InfraError",
    reason: "VOLUME_GROUP_GONE",
  });
  t.equal(reads, readsBefore, "repeatedly rejected lists do not keep LVM busy");
  await t.rejects(
    recent.changes.resize.run(resizeRequest({ name: "b", sizeGb: 1n, deviceClass: "" }), requester),
    {
      name: "InfraError",
      reason: "VOLUME_NOT_FOUND",
    },
  );
  t.equal(reads, readsBefore + 1, "a change always reads LVM again");
});

test("clients cannot set the gateway's own tags", async (t) => {
  const volume = { name: "a", size: { gib: 1n }, tags: ["x", "hostplane-operation-1"], deviceClass: "" };
  await t.rejects(createThinVolumes().create.run(volume, requester), {
    name: "InfraError",
    reason: "INVALID_FIELD",
    violations: [{ field: "tags[1]" }],
  });
});
