import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { type Operation, OperationService, OperationState } from "../../../gen/hostplane/v1/operation_pb.ts";
import { VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { startGatewayProcess } from "../gateway-process.ts";
import { assertRefused, shell } from "./dm-checks.ts";

const mib = 1n << 20n;

interface Subject {
  readonly volumes: Client<typeof VolumeService>;
  readonly operations: Client<typeof OperationService>;
  readonly volumeGroup: string;
  /** A directory to mount on. */
  readonly mountPoint: string;
}

/**
 * Checks clones, file systems, wiping and merges on real device-mapper, through a separate gateway.
 * @param volumeGroup an empty volume group of at least 2 GiB
 * @throws AssertionError
 */
async function checkVolumeContent(volumeGroup: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-volume-content-"));
  const mountPoint = `${folder}/mnt`;
  await shell(`lvcreate -q -y -T -L 128m -n pool ${volumeGroup}; mkdir ${mountPoint}`);
  const gateway = await startGatewayProcess(join(folder, "hostplane.yaml"), {
    deviceClasses: [
      { name: "thick", volumeGroup, default: true, spareGiB: 0 },
      { name: "thin", volumeGroup, thinPool: "pool", overprovision: 20 },
      { name: "large", volumeGroup, thinPool: "largepool", overprovision: 3 },
    ],
  });
  try {
    const transport: Transport = createGrpcTransport({ baseUrl: gateway.url });
    const subject: Subject = {
      volumes: createClient(VolumeService, transport),
      operations: createClient(OperationService, transport),
      volumeGroup,
      mountPoint,
    };
    await checkClones(subject);
    await checkFileSystems(subject);
    await checkWipe(subject);
    await checkDiscard(subject);
    await checkMerges(subject);
  } finally {
    await gateway.kill("SIGTERM");
    await shell(`lvremove -q -y ${volumeGroup}`);
    rmSync(folder, { recursive: true });
  }
}

/** Clones a volume that is written to meanwhile, a snapshot and a thin volume, and compares the checksums. */
async function checkClones(subject: Subject): Promise<void> {
  const { volumes, volumeGroup, mountPoint } = subject;
  const device = (name: string) => `/dev/${volumeGroup}/${name}`;
  const checksum = async (name: string, bytes: bigint) =>
    shell(`head -c ${bytes} ${device(name)} | sha256sum`);
  await volumes.createVolume({ name: "source", sizeBytes: 96n * mib, tags: ["a"] });
  await shell(`mkfs.ext4 -q ${device("source")}; mount ${device("source")} ${mountPoint}`);
  await shell(`dd if=/dev/urandom of=${mountPoint}/kept bs=1M count=16 conv=fsync status=none`);
  const kept = await shell(`sha256sum <${mountPoint}/kept`);

  const { operation } = await volumes.cloneVolume({ source: "source", name: "clone", sizeBytes: 128n * mib });
  await shell(`dd if=/dev/urandom of=${mountPoint}/later bs=1M count=8 conv=fsync status=none`);
  assert.equal((await ended(subject, operation)).state, OperationState.COMPLETED);
  await shell(`umount ${mountPoint}`);
  const { volume: clone } = await volumes.getVolume({ name: "clone" });
  assert.deepEqual([clone?.sizeBytes, clone?.origin, clone?.tags], [128n * mib, "", []]);
  await shell(`mount ${device("clone")} ${mountPoint}`);
  assert.equal(await shell(`sha256sum <${mountPoint}/kept`), kept, "the clone has the source's file");
  await shell(`umount ${mountPoint}; e2fsck -f -p ${device("clone")}`);
  const left = await shell(`lvs --noheadings -o lv_name ${volumeGroup} | tr -d ' '`);
  assert.deepEqual(left.trim().split("\n").sort(), ["clone", "pool", "source"], "its snapshot is removed");

  await volumes.createSnapshot({ source: "source", name: "frozen", readOnly: true });
  await assertRefused(volumes.createSnapshot({ source: "frozen", name: "again" }), "VOLUME_PROTECTED");
  const fromSnapshot = await volumes.cloneVolume({ source: "frozen", name: "thawed" });
  assert.equal((await ended(subject, fromSnapshot.operation)).state, OperationState.COMPLETED);
  assert.equal(await checksum("thawed", 96n * mib), await checksum("frozen", 96n * mib));
  for (const name of ["frozen", "thawed", "clone", "source"]) {
    await volumes.deleteVolume({ name });
  }

  const deviceClass = "thin";
  await volumes.createVolume({ name: "thin", deviceClass, sizeBytes: 64n * mib });
  await shell(`dd if=/dev/urandom of=${device("thin")} bs=1M count=8 oflag=direct conv=fsync status=none`);
  const { volume: thin } = await volumes.cloneVolume({ source: "thin", name: "twin", deviceClass });
  assert.equal(thin?.active, true);
  assert.equal(await checksum("twin", 64n * mib), await checksum("thin", 64n * mib));
  await volumes.deleteVolume({ name: "thin", deviceClass });
  assert.equal((await volumes.getVolume({ name: "twin", deviceClass })).volume?.origin, "");
  await volumes.deleteVolume({ name: "twin", deviceClass });
}

/** Grows ext4 and XFS with their volumes, mounted and not. */
async function checkFileSystems({ volumes, volumeGroup, mountPoint }: Subject): Promise<void> {
  const device = `/dev/${volumeGroup}/fs`;
  const sizeKib = async () => Number(await shell(`df --output=size -k ${mountPoint} | tail -n 1`));
  const resize = (sizeMib: bigint) =>
    volumes.resizeVolume({ name: "fs", sizeBytes: sizeMib * mib, resizeFileSystem: true });
  await volumes.createVolume({ name: "fs", sizeBytes: 64n * mib });
  await assertRefused(resize(128n), "FILE_SYSTEM_NOT_RESIZABLE");

  await shell(`mkfs.ext4 -q ${device}; mount ${device} ${mountPoint}`);
  const before = await sizeKib();
  await resize(128n);
  assert.ok((await sizeKib()) > before + 50_000, "a mounted ext4 has grown");
  await shell(`umount ${mountPoint}`);
  await resize(192n);
  await shell(`mount ${device} ${mountPoint}`);
  assert.ok((await sizeKib()) > before + 100_000, "an ext4 that was not mounted has grown");
  await assertRefused(resize(64n), "SHRINK_NOT_ALLOWED");
  await shell(`umount ${mountPoint}; lvextend -q -L 384m ${volumeGroup}/fs; mkfs.xfs -q -f ${device}`);

  await assertRefused(resize(448n), "FILE_SYSTEM_NOT_RESIZABLE");
  assert.equal(
    (await volumes.getVolume({ name: "fs" })).volume?.sizeBytes,
    384n * mib,
    "nothing has changed",
  );
  await shell(`mount ${device} ${mountPoint}`);
  const ofXfs = await sizeKib();
  await resize(448n);
  assert.ok((await sizeKib()) > ofXfs + 50_000, "a mounted XFS has grown");
  await assertRefused(resize(384n), "SHRINK_NOT_ALLOWED");
  await shell(`umount ${mountPoint}`);
  await volumes.deleteVolume({ name: "fs" });
}

/** Wipes a thick volume, whose extents a new volume then shows, and a thin one. */
async function checkWipe(subject: Subject): Promise<void> {
  const { volumes, volumeGroup } = subject;
  const fill = (name: string) =>
    shell(
      `tr '\\0' x </dev/zero | dd of=/dev/${volumeGroup}/${name} bs=1M count=16 iflag=fullblock conv=fsync status=none`,
    );
  await volumes.createVolume({ name: "secret", sizeBytes: 16n * mib });
  await fill("secret");
  await shell(`exec 3</dev/${volumeGroup}/secret; sleep 0.2; exec 3<&-`);
  const { operation } = await volumes.deleteVolume({ name: "secret", wipe: true });
  assert.equal((await ended(subject, operation)).state, OperationState.COMPLETED);
  await assertRefused(volumes.getVolume({ name: "secret" }), "VOLUME_NOT_FOUND");
  // Without wiping the first sector too, to see what is on the extents.
  await shell(
    `lvcreate -q -y -Zn -Wn -n found -L 16m ${volumeGroup}; cmp -n 16777216 /dev/zero /dev/${volumeGroup}/found`,
  );
  await volumes.deleteVolume({ name: "found" });

  const deviceClass = "thin";
  await volumes.createVolume({ name: "hidden", deviceClass, sizeBytes: 32n * mib });
  await fill("hidden");
  const wiped = await volumes.deleteVolume({ name: "hidden", deviceClass, wipe: true });
  assert.equal((await ended(subject, wiped.operation)).state, OperationState.COMPLETED);
  await assertRefused(volumes.getVolume({ name: "hidden", deviceClass }), "VOLUME_NOT_FOUND");
}

/** Discards a volume that is larger than its thin pool, in several parts. */
async function checkDiscard({ volumes, operations, volumeGroup }: Subject): Promise<void> {
  const sizeBytes = 2_100n * mib;
  const [deviceClass, name] = ["large", "sparse"];
  const device = `/dev/${volumeGroup}/${name}`;
  await shell(`lvcreate -q -y -T -L 1g -n largepool ${volumeGroup}`);
  await volumes.createVolume({ name, deviceClass, sizeBytes });
  const fill = async () => {
    for (const offsetMib of [0, 1_023, 1_024, 2_047, 2_048, 2_099]) {
      await shell(`dd if=/dev/urandom of=${device} bs=1M count=1 seek=${offsetMib} oflag=direct status=none`);
    }
  };
  const dataPercent = async () =>
    Number(await shell(`lvs --noheadings -o data_percent ${volumeGroup}/${name}`));
  await fill();
  assert.ok((await dataPercent()) > 0);
  const lvm = createLvm();
  const progress: number[] = [];
  await lvm.data.run(
    { kind: "wipe", volumeGroupName: volumeGroup, name, sizeBytes, isThin: true },
    {
      signal: new AbortController().signal,
      token: "discard",
      onProgress: ({ doneBytes }) => progress.push(doneBytes),
    },
  );
  await lvm.close();
  const partBytes = 2 ** 30;
  assert.deepEqual(progress, [partBytes, 2 * partBytes, Number(sizeBytes)]);
  assert.equal(await dataPercent(), 0, "no chunk of the volume is left");

  await fill();
  const { operation } = await volumes.deleteVolume({ name, deviceClass, wipe: true });
  assert.equal((await ended({ operations }, operation)).state, OperationState.COMPLETED);
  await assertRefused(volumes.getVolume({ name, deviceClass }), "VOLUME_NOT_FOUND");
  const { commands } = await operations.listCommands({ id: operation?.id ?? "" });
  const discards = commands.filter(({ command }) => command[0]?.endsWith("blkdiscard"));
  assert.deepEqual(
    discards.map(({ command }) => command.find((one) => one.startsWith("--offset"))),
    [0, partBytes, 2 * partBytes].map((offset) => `--offset=${offset}`),
  );
  await shell(`lvremove -q -y ${volumeGroup}/largepool`);
}

/** Restores a thick and a thin volume from snapshots, at once and at the next activation. */
async function checkMerges(subject: Subject): Promise<void> {
  const { volumes, volumeGroup } = subject;
  for (const deviceClass of ["thick", "thin"]) {
    const device = `/dev/${volumeGroup}/base`;
    const checksum = () => shell(`sha256sum <${device}`);
    const write = () =>
      shell(`dd if=/dev/urandom of=${device} bs=1M count=8 oflag=direct conv=fsync status=none`);
    const merge = async () => {
      const { operation, waitsForActivation } = await volumes.mergeSnapshot({ name: "snap", deviceClass });
      const { state, resource } = await ended(subject, operation);
      assert.equal(state, OperationState.COMPLETED);
      assert.equal(resource, `volumeGroups/${volumeGroup}/volumes/base`);
      return waitsForActivation;
    };
    const { volume } = await volumes.createVolume({
      name: "base",
      deviceClass,
      sizeBytes: 16n * mib,
      tags: ["t"],
    });
    await write();
    const kept = await checksum();

    await volumes.createSnapshot({ source: "base", name: "snap", deviceClass });
    await write();
    assert.equal(await merge(), false);
    assert.equal(await checksum(), kept, `${deviceClass}: the volume has the content of its snapshot`);
    const { volume: merged } = await volumes.getVolume({ name: "base", deviceClass });
    assert.deepEqual([merged?.uuid, merged?.tags, merged?.merging], [volume?.uuid, ["t"], false]);
    await assertRefused(volumes.getVolume({ name: "snap", deviceClass }), "VOLUME_NOT_FOUND");

    await volumes.createSnapshot({ source: "base", name: "snap", deviceClass });
    await write();
    const later = await checksum();
    const holder = spawn("sh", ["-c", `exec sleep 600 <${device}`], { stdio: "ignore" });
    try {
      await shell(
        `until [ "$(lvs --noheadings -o lv_device_open ${volumeGroup}/base | tr -d ' ')" = open ]; do sleep 0.2; done`,
      );
      assert.equal(await merge(), true);
      assert.equal(await checksum(), later, `${deviceClass}: an open volume keeps its content`);
      assert.equal((await volumes.getVolume({ name: "base", deviceClass })).volume?.merging, true);
      const request = { source: "base", name: "other", deviceClass };
      if (deviceClass === "thick") {
        await assertRefused(volumes.createSnapshot(request), "VOLUME_PROTECTED");
      }
    } finally {
      holder.kill();
      await once(holder, "exit");
    }
    await shell(`lvchange -an ${volumeGroup}/base; lvchange -ay ${volumeGroup}/base`);
    assert.equal(await checksum(), kept, `${deviceClass}: it is restored by its activation`);
    await shell(`while lvs -a --noheadings -o lv_name ${volumeGroup} | grep -q snap; do sleep 0.5; done`);
    await volumes.deleteVolume({ name: "base", deviceClass });
  }
}

/** Resolves to an operation once it has ended. */
async function ended(
  { operations }: Pick<Subject, "operations">,
  begun: Operation | undefined,
): Promise<Operation> {
  const id = begun?.id ?? "";
  for await (const { operation } of operations.watchOperation({ id })) {
    if (operation !== undefined && operation.endedAt !== undefined) {
      return operation;
    }
  }
  return assert.fail(`the operation ${id} has not ended`);
}

// A program for the virtual machine: node test/lab/vm/volume-content-on-dm.ts VOLUME-GROUP
await checkVolumeContent(process.argv[2] ?? "");
