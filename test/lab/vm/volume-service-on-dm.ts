import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { VolumeKind, VolumeService } from "../../../gen/hostplane/v1/volume_pb.ts";
import { startGatewayProcess } from "../gateway-process.ts";
import { assertRefused, shell } from "./dm-checks.ts";

const mib = 1n << 20n;

/**
 * Checks hostplane.v1.VolumeService on real device-mapper, through a separate gateway.
 * @param volumeGroup an empty volume group of at least 1 GiB
 * @throws AssertionError
 */
async function checkVolumeService(volumeGroup: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-volume-service-"));
  await shell(`lvcreate -q -y -n data -L 64m ${volumeGroup}`);
  const gateway = await startGatewayProcess(join(folder, "hostplane.yaml"), {
    deviceClasses: [
      { name: "thick", volumeGroup, default: true, spareGiB: 0 },
      { name: "thin", volumeGroup, thinPool: "pool", overprovision: 20 },
    ],
  });
  try {
    const volumes = createClient(VolumeService, createGrpcTransport({ baseUrl: gateway.url }));
    await checkThick(volumes, volumeGroup, folder);
    await checkThin(volumes, volumeGroup);
  } finally {
    await gateway.kill("SIGTERM");
    await shell(`lvremove -q -y ${volumeGroup}`);
    rmSync(folder, { recursive: true });
  }
}

/** Checks that a mounted volume can be renamed and tagged, and that a small snapshot overflows. */
async function checkThick(
  volumes: Client<typeof VolumeService>,
  volumeGroup: string,
  folder: string,
): Promise<void> {
  const device = (name: string) => `/dev/${volumeGroup}/${name}`;
  await shell(`mkfs.ext4 -q ${device("data")}; mkdir ${folder}/mnt; mount ${device("data")} ${folder}/mnt`);
  const { volume: snapshot } = await volumes.createSnapshot({
    source: "data",
    name: "small",
    spaceBytes: 4n * mib,
    readOnly: true,
  });
  assert.equal(snapshot?.kind, VolumeKind.SNAPSHOT);
  assert.equal(snapshot?.snapshotSpaceBytes, 4n * mib);
  assert.equal(snapshot?.readOnly, true);
  assert.ok(existsSync(snapshot?.devicePath ?? ""));
  await assertRefused(volumes.createSnapshot({ source: "small", name: "again" }), "VOLUME_PROTECTED");

  const { volume: renamed } = await volumes.renameVolume({ name: "data", newName: "renamed" });
  assert.equal(renamed?.open, true);
  assert.equal(renamed?.devicePath, device("renamed"));
  assert.ok(existsSync(device("renamed")) && !existsSync(device("data")));
  await shell(`echo kept >${folder}/mnt/file; sync`);
  assert.equal((await volumes.getVolume({ name: "small" })).volume?.origin, "renamed");
  await assertRefused(volumes.renameVolume({ name: "renamed", newName: "small" }), "VOLUME_EXISTS");

  const { volume: tagged } = await volumes.setVolumeTags({ name: "renamed", tags: ["a=1", "b"] });
  assert.deepEqual(tagged?.tags, ["a=1", "b"]);
  assert.deepEqual((await volumes.setVolumeTags({ name: "renamed", tags: ["b"] })).volume?.tags, ["b"]);

  await shell(
    `dd if=/dev/urandom of=${folder}/mnt/large bs=1M count=16 conv=fsync status=none; vgs -q >/dev/null`,
  );
  // LVM does not report that a snapshot is full. Any change makes the gateway read the state.
  await volumes.setVolumeTags({ name: "renamed", tags: [] });
  const { volume: full } = await volumes.getVolume({ name: "small" });
  assert.equal(full?.state, "invalidSnapshot");
  await shell(`umount ${folder}/mnt`);
}

/** Checks a thin pool, the figures of thin volumes, and a snapshot of a snapshot. */
async function checkThin(volumes: Client<typeof VolumeService>, volumeGroup: string): Promise<void> {
  const deviceClass = "thin";
  const pool = { name: "pool", volumeGroup };
  await assertRefused(
    volumes.createVolume({ name: "thin", deviceClass, sizeBytes: mib }),
    "VOLUME_GROUP_GONE",
  );
  const { thinPool } = await volumes.createThinPool({ ...pool, sizeBytes: 48n * mib });
  assert.deepEqual([thinPool?.sizeBytes, thinPool?.deviceClasses], [48n * mib, ["thin"]]);
  const metadataSizeBytes = 8n * mib;
  const { thinPool: grown } = await volumes.resizeThinPool({
    ...pool,
    sizeBytes: 64n * mib,
    metadataSizeBytes,
  });
  assert.deepEqual([grown?.sizeBytes, grown?.metadataSizeBytes], [64n * mib, metadataSizeBytes]);
  await volumes.createVolume({ name: "thin", deviceClass, sizeBytes: 128n * mib });
  await shell(
    `dd if=/dev/urandom of=/dev/${volumeGroup}/thin bs=1M count=16 oflag=direct conv=fsync status=none`,
  );
  await volumes.createSnapshot({ source: "thin", name: "first", deviceClass });
  const { volume: second } = await volumes.createSnapshot({ source: "first", name: "second", deviceClass });
  assert.equal(second?.kind, VolumeKind.THIN);
  assert.equal(second?.origin, "first");
  assert.ok(existsSync(second?.devicePath ?? ""));
  await shell(`cmp -n 16777216 /dev/${volumeGroup}/thin /dev/${volumeGroup}/second`);
  const { volumes: listed } = await volumes.listVolumes({ deviceClass });
  assert.deepEqual(
    listed.map(({ name, dataPercent, physicalVolumes }) => [name, dataPercent, physicalVolumes.length]),
    ["first", "second", "thin"].map((name) => [name, 12.5, 1]),
  );
  await assertRefused(
    volumes.createSnapshot({ source: "thin", name: "sized", deviceClass, spaceBytes: mib }),
    "INVALID_FIELD",
  );

  await assertRefused(volumes.deleteThinPool(pool), "VOLUME_PROTECTED");
  for (const name of ["second", "first", "thin"]) {
    await volumes.deleteVolume({ name, deviceClass });
  }
  await volumes.deleteThinPool(pool);
  await assertRefused(volumes.deleteThinPool(pool), "VOLUME_NOT_FOUND");
}

// A program for the virtual machine: node test/lab/vm/volume-service-on-dm.ts VOLUME-GROUP
await checkVolumeService(process.argv[2] ?? "");
