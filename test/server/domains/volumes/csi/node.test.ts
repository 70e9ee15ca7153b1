import { create } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  Controller,
  Node,
  NodeStageVolumeRequestSchema,
} from "../../../../../gen/csi/v1/csi_pb.ts";
import {
  blockCapability,
  type CapabilityInit,
  createCsiUnderTest,
  gib,
  mountCapability,
} from "./csi-under-test.ts";

const { method } = Node;
const stagingTargetPath = "/csi/staging";
const targetPath = "/csi/pods/a";

async function createSubject(t: Test) {
  const { call, mounts, ...rest } = await createCsiUnderTest(t);
  const capabilities = [mountCapability(), blockCapability];
  const { volume } = await call(Controller.method.createVolume, {
    name: "data",
    volumeCapabilities: capabilities,
  });
  const volumeId = volume?.volumeId ?? "";
  return {
    ...rest,
    call,
    mounts,
    volumeId,
    stage: (volumeCapability: CapabilityInit, path = stagingTargetPath) =>
      call(method.nodeStageVolume, { volumeId, stagingTargetPath: path, volumeCapability }),
    publish: (volumeCapability: CapabilityInit, more: { targetPath?: string; readonly?: boolean } = {}) =>
      call(method.nodePublishVolume, {
        volumeId,
        stagingTargetPath,
        targetPath,
        volumeCapability,
        ...more,
      }),
    unpublish: (path = targetPath) => call(method.nodeUnpublishVolume, { volumeId, targetPath: path }),
    unstage: () => call(method.nodeUnstageVolume, { volumeId, stagingTargetPath }),
    mounted: async () => (await mounts.mounts()).map(({ path, flags }) => `${path} ${flags.join()}`),
  };
}

const error = (reason: string, code?: string) => ({
  name: "InfraError",
  reason,
  ...(code === undefined ? {} : { code }),
});

test("a volume is staged, published, unpublished and unstaged, each as often as requested", async (t) => {
  const { stage, publish, unpublish, unstage, mounted, mounts } = await createSubject(t);
  const capability = mountCapability({ mountFlags: ["noatime"] });
  for (const _ of [1, 2]) {
    await stage(capability);
    await publish(capability);
  }
  t.same(await mounted(), ["/csi/staging rw,noatime", "/csi/pods/a rw,noatime"]);
  for (const _ of [1, 2]) {
    await unpublish();
    await unstage();
  }
  t.same(await mounted(), []);
  t.equal(await mounts.targetKind(targetPath, "target_path"), "absent");
  t.equal(
    await mounts.targetKind(stagingTargetPath, "path"),
    "directory",
    "the orchestrator's directory stays",
  );
});

test("a volume that was mounted several times at one path is unmounted completely", async (t) => {
  const { stage, publish, unpublish, mounted, mounts } = await createSubject(t);
  await stage(mountCapability());
  await publish(mountCapability());
  const again = { kind: "bind", source: stagingTargetPath, path: targetPath, readOnly: false } as const;
  await mounts.run({ ...again, flags: [] });
  await unpublish();
  t.same(await mounted(), ["/csi/staging rw"]);
});

test("a volume whose file system has failed can be unmounted", async (t) => {
  const { stage, publish, unpublish, unstage, mounted, mounts } = await createSubject(t);
  await stage(mountCapability());
  await publish(mountCapability());
  const { targetKind } = mounts;
  Object.assign(mounts, {
    async targetKind(path: string, field: string) {
      if ((await mounts.mounts()).some((mount) => mount.path === path)) {
        throw new InfraError(hostReasons.TOOL_FAILED, `${path}: EIO`);
      }
      return targetKind(path, field);
    },
  });
  await unpublish();
  await unstage();
  t.same(await mounted(), []);
  t.equal(await mounts.targetKind(targetPath, "target_path"), "absent");
});

test("a volume that was renamed while it was mounted is unmounted by its old ID", async (t) => {
  const { lvm, stage, publish, unpublish, unstage, mounted, call, volumeId, find } = await createSubject(t);
  await stage(mountCapability());
  await publish(mountCapability());
  await lvm.run({ kind: "rename", volumeGroupName: "vg0", name: "data", newName: "kept" });
  await t.rejects(publish(mountCapability()), error("VOLUME_NOT_FOUND"));
  await unpublish();
  await unstage();
  t.same(await mounted(), []);
  await call(Controller.method.deleteVolume, { volumeId });
  t.ok(await find("kept"), "the volume of its new name is another one");
});

test("the same path with other options is ALREADY_EXISTS", async (t) => {
  const { stage, publish } = await createSubject(t);
  await stage(mountCapability());
  const differs = error("MOUNT_DIFFERS", "ALREADY_EXISTS");
  await t.rejects(stage(mountCapability({ fsType: "xfs" })), differs);
  await t.rejects(stage(mountCapability({ mountFlags: ["noexec"] })), differs);
  await t.rejects(stage(mountCapability({ mode: AccessMode.SINGLE_NODE_READER_ONLY })), differs);
  await stage(mountCapability({ fsType: "" }));
  await publish(mountCapability());
  await t.rejects(publish(mountCapability(), { readonly: true }), differs);
  await t.rejects(publish(blockCapability), differs);
});

test("flags that the kernel shows with the file system are compared too", async (t) => {
  const { stage, publish } = await createSubject(t);
  const capability = mountCapability({ mountFlags: ["sync", "dirsync", "nosuid"] });
  await stage(capability);
  await stage(capability);
  await publish(capability);
  await publish(capability);
  await t.rejects(stage(mountCapability({ mountFlags: ["nosuid"] })), error("MOUNT_DIFFERS"));
});

test("a read-only target keeps the flags of the staged volume", async (t) => {
  const { stage, publish, mounted } = await createSubject(t);
  const capability = mountCapability({ mountFlags: ["noatime", "noexec", "nosuid", "sync"] });
  await stage(capability);
  await publish(capability, { readonly: true });
  t.same(await mounted(), ["/csi/staging rw,noatime,noexec,nosuid", "/csi/pods/a ro,noatime,noexec,nosuid"]);
});

test("one writer has one target path", async (t) => {
  const { stage, publish } = await createSubject(t);
  const capability = mountCapability({ mode: AccessMode.SINGLE_NODE_SINGLE_WRITER });
  await stage(capability);
  await publish(capability);
  await t.rejects(
    publish(capability, { targetPath: "/csi/pods/b" }),
    error("VOLUME_IN_USE", "FAILED_PRECONDITION"),
  );
  const many = mountCapability({ mode: AccessMode.SINGLE_NODE_MULTI_WRITER });
  await publish(many, { targetPath: "/csi/pods/b" });
});

test("another mount at the path stays", async (t) => {
  const { call, stage, publish, unpublish, mounted } = await createSubject(t);
  const { volume } = await call(Controller.method.createVolume, {
    name: "second",
    volumeCapabilities: [mountCapability()],
  });
  const volumeId = volume?.volumeId ?? "";
  const staging = "/csi/staging2";
  await call(method.nodeStageVolume, {
    volumeId,
    stagingTargetPath: staging,
    volumeCapability: mountCapability(),
  });
  const foreign = error("MOUNT_FOREIGN", "FAILED_PRECONDITION");
  await t.rejects(stage(mountCapability(), staging), foreign);
  await t.rejects(unpublish(staging), foreign);
  await stage(mountCapability());
  await t.rejects(publish(mountCapability(), { targetPath: staging }), foreign);
  await t.rejects(call(method.nodeUnpublishVolume, { volumeId: "vg0/none", targetPath: staging }), foreign);
  t.same(await mounted(), ["/csi/staging2 rw", "/csi/staging rw"]);
});

test("paths outside of the roots, relative ones and missing directories are refused", async (t) => {
  const { stage, publish, unpublish } = await createSubject(t);
  const invalid = (field: string) => ({ ...error("INVALID_FIELD"), violations: [{ field }] });
  for (const path of ["/etc", "csi/staging", "/csi/../etc", "/csi/none", "/csi"]) {
    await t.rejects(stage(mountCapability(), path), invalid("staging_target_path"), path);
  }
  await stage(mountCapability());
  for (const path of ["/etc/a", "/csi/pods/../../etc", "/csi/staging", "/csi/staging/a"]) {
    await t.rejects(publish(mountCapability(), { targetPath: path }), invalid("target_path"), path);
  }
  await t.rejects(publish(mountCapability(), { targetPath: "/csi/none/a" }), invalid("target_path"));
  await unpublish("/csi/none/a");
});

test("a raw block device is published as a file, and never read-only", async (t) => {
  const { stage, publish, unpublish, mounts, call, volumeId } = await createSubject(t);
  await stage(blockCapability);
  await publish(blockCapability);
  await publish(blockCapability);
  t.match(await mounts.mounts(), [{ path: targetPath, node: { major: 253 } }]);
  const { usage } = await call(method.nodeGetVolumeStats, { volumeId, volumePath: targetPath });
  t.match(usage, [{ total: gib }]);
  await t.rejects(publish(blockCapability, { readonly: true }), error("INVALID_FIELD"));
  await unpublish();
  t.same(await mounts.mounts(), []);
});

test("a volume is not a file system and a raw block device at the same time", async (t) => {
  const { stage, publish, unpublish, unstage } = await createSubject(t);
  const used = (path: string) => ({
    ...error("VOLUME_IN_USE", "FAILED_PRECONDITION"),
    message: `volume vg0/data is mounted at ${path}`,
  });
  await stage(mountCapability());
  await t.rejects(stage(blockCapability), used(stagingTargetPath));
  await t.rejects(publish(blockCapability), used(stagingTargetPath));
  await unstage();
  await stage(blockCapability);
  await publish(blockCapability);
  await t.rejects(stage(mountCapability()), used(targetPath));
  await unpublish();
  await stage(mountCapability());
});

test("a volume that is published is not deleted", async (t) => {
  const { call, stage, publish, unpublish, unstage, volumeId, find } = await createSubject(t);
  const remove = () => call(Controller.method.deleteVolume, { volumeId });
  const used = error("VOLUME_IN_USE", "FAILED_PRECONDITION");
  await stage(mountCapability());
  await t.rejects(remove(), used);
  await unstage();
  await stage(blockCapability);
  await publish(blockCapability);
  await t.rejects(remove(), used);
  t.ok(await find("data"));
  await unpublish();
  await remove();
  t.notOk(await find("data"));
});

test("a volume whose file system has failed is abnormal", async (t) => {
  const { call, mounts, stage, publish, volumeId } = await createSubject(t);
  await stage(mountCapability());
  await publish(mountCapability());
  await publish(mountCapability(), { targetPath: "/csi/pods/b", readonly: true });
  const conditionAt = async (volumePath: string) =>
    (await call(method.nodeGetVolumeStats, { volumeId, volumePath })).volumeCondition;
  t.match(await conditionAt(targetPath), { abnormal: false });
  const [all, use] = [await mounts.mounts(), await mounts.use(targetPath)];
  const abnormal = { abnormal: true, message: /^the file system on vg0\/data has failed/ };
  for (const option of ["ro", "emergency_ro", "shutdown"]) {
    const failed = all.map((mount) => ({ ...mount, fileSystemOptions: ["rw", option] }));
    Object.assign(mounts, { mounts: async () => failed });
    t.match(await conditionAt(targetPath), abnormal, option);
    t.match(await conditionAt("/csi/pods/b"), abnormal, option);
  }
  const reading = all.map((mount) => ({ ...mount, flags: ["ro"], fileSystemOptions: ["ro"] }));
  Object.assign(mounts, { mounts: async () => reading });
  t.match(await conditionAt(targetPath), { abnormal: false }, "mounted for reading");
  Object.assign(mounts, { mounts: async () => all, use: async () => ({ ...use, isShutDown: true }) });
  t.match(await conditionAt(targetPath), abnormal);
  t.match(await conditionAt("/csi/pods/b"), abnormal);
});

test("a volume with other content, or an empty one for reading, is not formatted", async (t) => {
  const { stage, mounts, volumeId } = await createSubject(t);
  const differs = error("FILE_SYSTEM_DIFFERS", "FAILED_PRECONDITION");
  const reader = mountCapability({ mode: AccessMode.SINGLE_NODE_READER_ONLY });
  await t.rejects(stage(reader), differs);
  await mounts.run({ kind: "format", device: `/dev/${volumeId}`, fileSystem: "xfs" });
  await t.rejects(stage(mountCapability()), differs);
  await stage(mountCapability({ fsType: "" }));
  t.match(await mounts.mounts(), [{ fileSystem: "xfs" }]);
});

test("a failed mount leaves nothing mounted, created or active", async (t) => {
  const { lvm, faults, stage, publish, mounted, mounts, find } = await createSubject(t);
  await lvm.run({ kind: "deactivate", volumeGroupName: "vg0", name: "data" });
  const failure = new InfraError(hostReasons.TOOL_FAILED, "mount failed");
  faults.add(({ kind }) => (kind === "mount" ? failure : undefined), 1);
  await t.rejects(stage(mountCapability()), error("TOOL_FAILED"));
  t.match(await find("data"), { active: false });
  await stage(mountCapability());
  t.match(await find("data"), { active: true });
  faults.add(({ kind }) => (kind === "bind" ? failure : undefined), 1);
  await t.rejects(publish(mountCapability()), error("TOOL_FAILED"));
  t.equal(await mounts.targetKind(targetPath, "target_path"), "absent");
  t.same(await mounted(), ["/csi/staging rw"]);
});

test("an ext4 that exists is checked before it is mounted for writing", async (t) => {
  const { lvm, faults, stage, unstage, mounted } = await createSubject(t);
  let kinds: string[] = [];
  const stepsOf = async (capability: CapabilityInit) => {
    kinds = [];
    await stage(capability);
    await unstage();
    return kinds.slice(0, -1);
  };
  faults.add(({ kind }) => {
    kinds.push(kind);
    return undefined;
  });
  const any = mountCapability({ fsType: "" });
  t.same(await stepsOf(any), ["format", "mount"]);
  t.same(await stepsOf(any), ["check", "mount", "grow"]);
  t.same(await stepsOf(mountCapability({ mode: AccessMode.SINGLE_NODE_READER_ONLY })), ["mount"]);
  await lvm.run({ kind: "deactivate", volumeGroupName: "vg0", name: "data" });
  t.same(await stepsOf(any), ["check", "mount", "grow"], "what an inactive volume contains is read first");
  const failure = new InfraError(hostReasons.TOOL_FAILED, "damaged");
  faults.add(({ kind }) => (kind === "check" ? failure : undefined));
  await t.rejects(stage(any), error("TOOL_FAILED", "INTERNAL"));
  t.same(await mounted(), []);
});

test("a new XFS is formatted, and one that exists is not checked", async (t) => {
  const { faults, stage, unstage } = await createSubject(t);
  const kinds: string[] = [];
  faults.add(({ kind }) => {
    kinds.push(kind);
    return undefined;
  });
  for (const fsType of ["xfs", ""]) {
    await stage(mountCapability({ fsType }));
    await unstage();
  }
  t.same(kinds, ["format", "mount", "unmount", "mount", "grow", "unmount"]);
});

test("a mounted volume grows with its file system, also if the controller did not grow it", async (t) => {
  const { call, stage, publish, volumeId, find } = await createSubject(t);
  const expand = (volumePath: string, capacityRange = {}) =>
    call(method.nodeExpandVolume, { volumeId, volumePath, capacityRange });
  await t.rejects(expand(targetPath), error("MOUNT_MISSING"));
  await stage(mountCapability());
  await publish(mountCapability());
  t.match(await expand(targetPath, { requiredBytes: 2n * gib }), { capacityBytes: 2n * gib });
  t.equal((await find("data"))?.sizeBytes, 2n * gib);
  await t.rejects(expand(targetPath, { limitBytes: gib }), error("CSI_CAPACITY", "OUT_OF_RANGE"));
});

test("a call for a volume or path that does not exist is NOT_FOUND", async (t) => {
  const { call, volumeId, stage } = await createSubject(t);
  const missing = error("VOLUME_NOT_FOUND", "NOT_FOUND");
  await stage(mountCapability());
  await t.rejects(call(method.nodeGetVolumeStats, { volumeId, volumePath: "some/path" }), missing);
  await t.rejects(
    call(method.nodeStageVolume, {
      volumeId: "vg0/none",
      stagingTargetPath,
      volumeCapability: mountCapability(),
    }),
    missing,
  );
  await call(method.nodeUnstageVolume, { volumeId: "none", stagingTargetPath: "/csi/staging2" });
});

test("plans show the commands, and change nothing", async (t) => {
  const { planners, volumeId, mounted } = await createSubject(t);
  const plan = planners.find(({ service }) => service === Node)?.plannerOf(method.nodeStageVolume);
  const planned = await plan?.(
    create(NodeStageVolumeRequestSchema, {
      volumeId,
      stagingTargetPath,
      volumeCapability: mountCapability(),
    }),
    { signal: new AbortController().signal, peer: { lvmd: "backups" } },
  );
  t.same(
    planned?.steps.map(({ command }) => command.join(" ")),
    [
      "mkfs.ext4 -q -m 0 -- /dev/vg0/data",
      "mount --types ext4 --options defaults -- /dev/vg0/data /csi/staging",
    ],
  );
  t.same(await mounted(), []);
});
