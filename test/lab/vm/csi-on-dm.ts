import assert from "node:assert/strict";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  VolumeCapability_AccessMode_Mode as AccessMode,
  Controller,
  Node,
  type VolumeCapabilitySchema,
} from "../../../gen/csi/v1/csi_pb.ts";
import { LVService } from "../../../gen/lvmd/served/lvmd_pb.ts";
import { type CsiGateway, hostShell, mountsBelow, startCsiGateway } from "./csi-gateway.ts";
import { assertRefused } from "./dm-checks.ts";

const mib = 1n << 20n;

type CapabilityInit = MessageInitShape<typeof VolumeCapabilitySchema>;

const mount = (
  fsType: string,
  mountFlags: string[] = [],
  mode: AccessMode = AccessMode.SINGLE_NODE_WRITER,
): CapabilityInit => ({
  accessType: { case: "mount", value: { fsType, mountFlags } },
  accessMode: { mode },
});
const block: CapabilityInit = {
  accessType: { case: "block", value: {} },
  accessMode: { mode: AccessMode.SINGLE_NODE_WRITER },
};

/** The driver's clients, and the paths of a volume. */
interface Subject {
  readonly controller: Client<typeof Controller>;
  readonly node: Client<typeof Node>;
  readonly lvmd: Client<typeof LVService>;
  readonly root: string;
  /** Creates a volume and the directory for staging it. */
  create(name: string, capability: CapabilityInit, bytes?: bigint, from?: string): Promise<Place>;
  stage(place: Place, capability: CapabilityInit): Promise<void>;
  publish(place: Place, capability: CapabilityInit, readonly?: boolean): Promise<void>;
  /** Undoes all of these. */
  remove(place: Place): Promise<void>;
}

interface Place {
  readonly volumeId: string;
  readonly staging: string;
  readonly target: string;
}

function createSubject({ gateway, root }: CsiGateway): Subject {
  const transport = createGrpcTransport({ baseUrl: gateway.url });
  const [controller, node] = [createClient(Controller, transport), createClient(Node, transport)];
  return {
    controller,
    node,
    lvmd: createClient(LVService, transport),
    root,
    async create(name, capability, bytes = 64n * mib, from) {
      const { volume } = await controller.createVolume({
        name,
        volumeCapabilities: [capability],
        capacityRange: { requiredBytes: bytes },
        ...(from === undefined
          ? {}
          : { volumeContentSource: { type: { case: "snapshot", value: { snapshotId: from } } } }),
      });
      const place = {
        volumeId: volume?.volumeId ?? "",
        staging: `${root}/${name}/staging`,
        target: `${root}/${name}/target`,
      };
      await hostShell(`mkdir -p ${place.staging}`);
      return place;
    },
    async stage({ volumeId, staging: stagingTargetPath }, volumeCapability) {
      await node.nodeStageVolume({ volumeId, stagingTargetPath, volumeCapability });
    },
    async publish(
      { volumeId, staging: stagingTargetPath, target: targetPath },
      volumeCapability,
      readonly = false,
    ) {
      await node.nodePublishVolume({ volumeId, stagingTargetPath, targetPath, volumeCapability, readonly });
    },
    async remove({ volumeId, staging: stagingTargetPath, target: targetPath }) {
      await node.nodeUnpublishVolume({ volumeId, targetPath });
      await node.nodeUnstageVolume({ volumeId, stagingTargetPath });
      await controller.deleteVolume({ volumeId });
    },
  };
}

/** Checks that data survives a snapshot, a clone that is larger, and growth while it is mounted. */
async function checkFileSystem(subject: Subject, fsType: "ext4" | "xfs", bytes: bigint): Promise<void> {
  const { controller, node } = subject;
  const capability = mount(fsType, ["noatime"]);
  const one = await subject.create(`${fsType}-one`, capability, bytes);
  await subject.stage(one, capability);
  await subject.publish(one, capability);
  assert.deepEqual((await mountsBelow(subject.root)).toSorted(), [one.staging, one.target]);
  await hostShell(`head -c 5000000 /dev/urandom >${one.target}/data; sync`);
  const { snapshot } = await controller.createSnapshot({ name: "snapshot-1", sourceVolumeId: one.volumeId });
  await hostShell(`sha256sum <${one.target}/data >${subject.root}/sum; echo later >${one.target}/data`);

  const clone = await subject.create(`${fsType}-clone`, capability, bytes + 64n * mib, snapshot?.snapshotId);
  await subject.stage(clone, capability);
  await subject.publish(clone, capability, true);
  assert.equal(
    await hostShell(`sha256sum <${clone.target}/data`),
    await hostShell(`cat ${subject.root}/sum`),
  );
  await assert.rejects(hostShell(`touch ${clone.target}/x`), "published read-only");
  const statsOf = async ({ volumeId, target: volumePath }: Place) =>
    (await node.nodeGetVolumeStats({ volumeId, volumePath })).usage[0]?.total ?? 0n;
  assert.ok((await statsOf(clone)) > (await statsOf(one)) + 48n * mib, "its file system has the larger size");

  const before = await statsOf(one);
  const capacityRange = { requiredBytes: bytes + 64n * mib };
  await controller.controllerExpandVolume({ volumeId: one.volumeId, capacityRange });
  await node.nodeExpandVolume({ volumeId: one.volumeId, volumePath: one.target, capacityRange });
  assert.ok((await statsOf(one)) > before + 48n * mib, "it has grown while it was mounted");
  await assertRefused(controller.deleteVolume({ volumeId: one.volumeId }), "VOLUME_IN_USE");

  await subject.remove(one);
  await subject.remove(clone);
  await controller.deleteSnapshot({ snapshotId: snapshot?.snapshotId ?? "" });
}

/** Checks that what cannot work is refused, with nothing left mounted. */
async function checkRefusals(subject: Subject): Promise<void> {
  const { root, node } = subject;
  const capability = mount("ext4");
  const one = await subject.create("refused", capability);
  await assertRefused(subject.publish(one, capability), "MOUNT_MISSING");
  await subject.stage(one, capability);
  await assertRefused(subject.stage(one, mount("xfs")), "MOUNT_DIFFERS");
  await assertRefused(subject.stage(one, mount("ext4", ["noexec"])), "MOUNT_DIFFERS");
  await subject.publish(one, capability);
  await subject.publish(one, capability);
  await assertRefused(subject.publish(one, capability, true), "MOUNT_DIFFERS");
  const single = mount("ext4", [], AccessMode.SINGLE_NODE_SINGLE_WRITER);
  await assertRefused(subject.publish({ ...one, target: `${root}/second` }, single), "VOLUME_IN_USE");

  await hostShell(`mkdir ${root}/foreign; mount -t tmpfs foreign ${root}/foreign; ln -s /tmp ${root}/link`);
  await assertRefused(subject.publish({ ...one, target: `${root}/foreign` }, capability), "MOUNT_FOREIGN");
  await assertRefused(
    node.nodeUnpublishVolume({ volumeId: one.volumeId, targetPath: `${root}/foreign` }),
    "MOUNT_FOREIGN",
  );
  await assertRefused(subject.publish({ ...one, target: `${root}/link/a` }, capability), "INVALID_FIELD");
  await assertRefused(subject.publish({ ...one, target: `${root}/../a` }, capability), "INVALID_FIELD");
  await hostShell(`umount ${root}/foreign`);

  // A volume that is mounted where the host does not see it.
  await node.nodeUnpublishVolume({ volumeId: one.volumeId, targetPath: one.target });
  await node.nodeUnstageVolume({ volumeId: one.volumeId, stagingTargetPath: one.staging });
  const device = `/dev/${one.volumeId}`;
  await hostShell(
    `setsid unshare --mount sh -c "mount ${device} /mnt && echo \\$\\$ >${root}/hidden && exec sleep 1000" >/dev/null 2>&1 & until [ -s ${root}/hidden ]; do sleep 0.1; done`,
  );
  await assertRefused(subject.stage(one, capability), "VOLUME_IN_USE");
  await hostShell(
    `kill $(cat ${root}/hidden); until ! lvs --noheadings -o lv_attr ${one.volumeId} | grep -q ao; do sleep 0.1; done`,
  );
  await hostShell(`wipefs -qa ${device}; mkswap ${device} >/dev/null`);
  await assertRefused(subject.stage(one, capability), "FILE_SYSTEM_DIFFERS");
  assert.deepEqual(await mountsBelow(root), []);
  await subject.remove(one);
}

/** Checks a raw block device: what is written to it is on the volume, and it grows. */
async function checkBlock(subject: Subject): Promise<void> {
  const { controller, node } = subject;
  const one = await subject.create("raw", block);
  await subject.stage(one, block);
  await subject.publish(one, block);
  await hostShell(`test -b ${one.target}; echo content | dd of=${one.target} conv=fsync status=none`);
  assert.equal(await hostShell(`head -c 8 /dev/${one.volumeId}`), "content\n");
  const capacityRange = { requiredBytes: 96n * mib };
  await controller.controllerExpandVolume({ volumeId: one.volumeId, capacityRange });
  const { usage } = await node.nodeGetVolumeStats({ volumeId: one.volumeId, volumePath: one.target });
  assert.equal(usage[0]?.total, 96n * mib);
  // No program has the device open, so LVM would remove the volume.
  await assertRefused(subject.lvmd.removeLV({ name: "raw" }), "VOLUME_IN_USE");
  await subject.remove(one);
}

/** Checks that a call which a killed gateway did not finish can be repeated, after which the volume is mounted once. */
async function checkKills(csi: CsiGateway): Promise<void> {
  const capability = mount("ext4");
  const one = await createSubject(csi).create("killed", capability);
  for (const delayMs of [0, 100, 300, 600, 1000]) {
    const staged = createSubject(csi).stage(one, capability);
    staged.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await csi.gateway.kill("SIGKILL");
    await csi.restart();
    const subject = createSubject(csi);
    await subject.stage(one, capability);
    assert.deepEqual(await mountsBelow(csi.root), [one.staging], `killed after ${delayMs} ms`);
    await subject.node.nodeUnstageVolume({ volumeId: one.volumeId, stagingTargetPath: one.staging });
  }
  await createSubject(csi).remove(one);
}

/**
 * Checks the CSI driver on real volumes and mounts, through a separate gateway.
 * @param volumeGroup an empty volume group of at least 2 GiB
 * @throws AssertionError
 */
async function checkCsi(volumeGroup: string): Promise<void> {
  const csi = await startCsiGateway(volumeGroup);
  try {
    const subject = createSubject(csi);
    await checkFileSystem(subject, "ext4", 64n * mib);
    await checkFileSystem(subject, "xfs", 304n * mib);
    await checkBlock(subject);
    await checkRefusals(subject);
    await checkKills(csi);
    assert.deepEqual(await mountsBelow(csi.root), []);
    assert.equal((await hostShell(`lvs --noheadings -o lv_name ${volumeGroup}`)).trim(), "pool");
  } finally {
    await csi.stop();
  }
}

// A program for the virtual machine: node test/lab/vm/csi-on-dm.ts VOLUME-GROUP
await checkCsi(process.argv[2] ?? "");
