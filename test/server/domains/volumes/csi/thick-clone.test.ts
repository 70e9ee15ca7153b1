import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import { Controller, type CreateVolumeRequestSchema } from "../../../../../gen/csi/v1/csi_pb.ts";
import { gib, stateOfLvm, volumeNames } from "../backups/backups-under-test.ts";
import {
  cloneRequest,
  createCsiGateway,
  createCsiHost,
  createSource,
  sourceId,
} from "./thick-clones-under-test.ts";

const { method } = Controller;

async function createSubject(t: Test, facts: { isHeld?: boolean } = {}) {
  const { lvm, faults, release, host } = createCsiHost(t, facts);
  const gateway = await createCsiGateway(t, await host);
  await createSource(gateway);
  return {
    lvm,
    faults,
    release,
    gateway,
    create: (more: MessageInitShape<typeof CreateVolumeRequestSchema> = {}, call: { leftMs?: number } = {}) =>
      gateway.call(method.createVolume, { ...cloneRequest, ...more } as typeof cloneRequest, call),
    operations: async () =>
      (await gateway.operations.list({ kind: "volumes.clone" }, { belowSeq: undefined, limit: 10 }))
        .operations,
  };
}

const error = (reason: string, code: string) => ({ name: "InfraError", reason, code });
const pending = {
  ...error("CSI_PENDING", "ABORTED"),
  message: /vg0\/clone is still being copied from source \(\d+ %/,
};

test("a thick volume or snapshot is copied once, however often its clone is requested", async (t) => {
  const { gateway, create, operations, lvm } = await createSubject(t);
  const { volume } = await create();
  t.match(volume, {
    volumeId: "vg0/clone",
    capacityBytes: 2n * gib,
    contentSource: cloneRequest.volumeContentSource,
  });
  t.same((await create()).volume, volume);
  t.equal((await operations()).length, 1);

  const { snapshot } = await gateway.call(method.createSnapshot, {
    name: "monday",
    sourceVolumeId: sourceId,
  });
  const snapshotId = snapshot?.snapshotId ?? "";
  const fromSnapshot = { type: { case: "snapshot" as const, value: { snapshotId } } };
  const second = await create({ name: "second", volumeContentSource: fromSnapshot, capacityRange: {} });
  t.match(second.volume, { volumeId: "vg0/second", capacityBytes: gib, contentSource: fromSnapshot });
  const names = await volumeNames(lvm);
  t.equal(names.length, 4, names.join());
  const { volumes } = await stateOfLvm(lvm);
  t.same(
    volumes.flatMap(({ tags }) => tags.filter((tag) => /hostplane-(operation|volume)/.test(tag))),
    [],
  );
  await gateway.call(method.deleteSnapshot, { snapshotId });
  await gateway.call(method.deleteVolume, { volumeId: sourceId });
  t.same((await create()).volume, volume, "its source is gone");
});

test("a call whose deadline passes before the copy is complete is ABORTED, and the next one joins it", async (t) => {
  const { gateway, create, operations, release } = await createSubject(t, { isHeld: true });
  await t.rejects(create({}, { leftMs: 10 }), pending);
  await t.rejects(create({}, { leftMs: 10 }), pending);
  t.equal((await operations()).length, 1);
  const { entries } = await gateway.call(method.listVolumes, {});
  t.same(
    entries.map(({ volume }) => volume?.volumeId),
    [sourceId],
    "a volume that is still copied is not listed",
  );
  await t.rejects(
    create({ capacityRange: { requiredBytes: 3n * gib } }),
    error("CSI_DIFFERS", "ALREADY_EXISTS"),
  );
  const joined = create();
  release();
  t.match((await joined).volume, { volumeId: "vg0/clone" });
  t.equal((await operations()).length, 1);
});

test("two equal requests at the same time create one clone", async (t) => {
  const { create, operations } = await createSubject(t);
  const results = await Promise.allSettled([create(), create()]);
  for (const result of results) {
    if (result.status === "rejected") {
      t.match(result.reason, error("CSI_PENDING", "ABORTED"));
    }
  }
  t.match((await create()).volume, { volumeId: "vg0/clone" });
  t.equal((await operations()).length, 1);
});

test("deleting a volume that is still copied removes all of it", async (t) => {
  const { gateway, create, lvm, operations } = await createSubject(t, { isHeld: true });
  const created = create();
  created.catch(() => {});
  await t.rejects(create({}, { leftMs: 10 }), pending);
  await gateway.call(method.deleteVolume, { volumeId: "vg0/clone" });
  t.same(await volumeNames(lvm), [sourceId]);
  await t.rejects(created, error("OPERATION_CANCELLED", "ABORTED"));
  t.match(await operations(), [{ state: "cancelled" }]);
  await gateway.call(method.deleteVolume, { volumeId: sourceId });
});

test("a copy that cannot be undone is continued by the next call for its volume", async (t) => {
  for (const isDeleted of [true, false]) {
    const { gateway, create, lvm, faults, operations } = await createSubject(t);
    const failure = new InfraError(hostReasons.TOOL_FAILED, "lvm failed");
    faults.add(({ kind }) => (kind === "rename" ? failure : undefined), 1);
    faults.add(({ kind }) => (kind === "remove" ? failure : undefined), 3);
    await t.rejects(create(), { ...error("TOOL_FAILED", "INTERNAL"), message: /may still exist/ });
    t.match(await operations(), [{ state: "needsAttention" }]);
    if (isDeleted) {
      await gateway.call(method.deleteVolume, { volumeId: "vg0/clone" });
    } else {
      await t.rejects(create(), error("TOOL_FAILED", "INTERNAL"));
    }
    t.same(await volumeNames(lvm), [sourceId]);
    t.match((await create()).volume, { volumeId: "vg0/clone" });
  }
});

test("a clone that does not fit, or of a volume that is missing, is refused", async (t) => {
  const { create, operations } = await createSubject(t);
  await t.rejects(
    create({ capacityRange: { requiredBytes: 11n * gib } }),
    error("NO_SPACE", "RESOURCE_EXHAUSTED"),
  );
  await t.rejects(create({ capacityRange: { limitBytes: 1n } }), error("CSI_CAPACITY", "OUT_OF_RANGE"));
  const missing = { type: { case: "volume" as const, value: { volumeId: "vg0/none" } } };
  await t.rejects(create({ volumeContentSource: missing }), error("VOLUME_NOT_FOUND", "NOT_FOUND"));
  t.same(await operations(), []);
});
