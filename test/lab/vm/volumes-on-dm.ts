import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { LVService as CurrentLVService } from "../../../gen/lvmd/current/lvmd_pb.ts";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { startGatewayProcess } from "../gateway-process.ts";
import { assertRefused, shell } from "./dm-checks.ts";

const gib = 1n << 30n;

/**
 * Checks what needs real device-mapper: device nodes, open volumes, snapshots, stale file systems and thin pools, through a
 * separate gateway.
 * @param volumeGroup an empty volume group of at least 20 GiB
 * @throws AssertionError
 */
async function checkVolumesOnDeviceMapper(volumeGroup: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "hostplane-dm-"));
  await shell(`lvcreate -q -y -T -L 4g -n pool ${volumeGroup}`);
  const gateway = await startGatewayProcess(join(folder, "hostplane.yaml"), {
    deviceClasses: [
      { name: "thick", volumeGroup, default: true, spareGiB: 1 },
      { name: "thin", volumeGroup, thinPool: "pool", overprovision: 2.5 },
      { name: "gone", volumeGroup, thinPool: "nopool" },
    ],
    protect: ["keep*"],
  });
  try {
    const transport = createGrpcTransport({ baseUrl: gateway.url });
    const lv = createClient(LVService, transport);
    const vg = createClient(VGService, transport);
    const namesOf = async (deviceClass: string) =>
      (await vg.getLVList({ deviceClass })).volumes.map(({ name }) => name).toSorted();

    // A thick volume is a block device, and empty even where an old file system was.
    await shell(
      `lvcreate -q -y -n old -L 1g ${volumeGroup}; mkfs.ext4 -q /dev/${volumeGroup}/old; lvremove -q -y ${volumeGroup}/old`,
    );
    const { volume } = await lv.createLV({ name: "data", sizeGb: 1n });
    assert.ok((volume?.devMajor ?? 0) > 0);
    assert.ok(existsSync(`/dev/${volumeGroup}/data`));
    await assert.rejects(shell(`blkid -p /dev/${volumeGroup}/data`), "the old file system is visible");

    // An open volume can grow, but is not removed.
    await shell(
      `mkfs.ext4 -q /dev/${volumeGroup}/data; mkdir -p ${folder}/mnt; mount /dev/${volumeGroup}/data ${folder}/mnt`,
    );
    await lv.resizeLV({ name: "data", sizeGb: 2n });
    await assertRefused(lv.removeLV({ name: "data" }), "VOLUME_IN_USE");
    assert.deepEqual(await namesOf("thick"), ["data"]);
    await shell(`umount ${folder}/mnt`);

    // A volume can be removed right after it was unmounted, although no event has announced its closing.
    await lv.createLV({ name: "mounted", sizeGb: 1n });
    await shell(
      `mkfs.ext4 -q /dev/${volumeGroup}/mounted; mount /dev/${volumeGroup}/mounted ${folder}/mnt; vgs -q >/dev/null`,
    );
    await lv.createLV({ name: "other", sizeGb: 1n });
    await shell(`umount ${folder}/mnt`);
    await lv.removeLV({ name: "mounted" });
    await lv.removeLV({ name: "other" });

    // An origin is kept for its snapshots; a snapshot itself can be removed.
    await shell(`lvcreate -q -y -s -n snap -L 128m ${volumeGroup}/data`);
    await assertRefused(lv.removeLV({ name: "data" }), "VOLUME_PROTECTED");
    const snapshot = (await vg.getLVList({})).volumes.find(({ name }) => name === "snap");
    assert.equal(snapshot?.sizeGb, 2n, "a snapshot has its origin's size");
    await lv.removeLV({ name: "snap" });
    await lv.removeLV({ name: "data" });
    await lv.removeLV({ name: "data" });
    await shell(`lvcreate -q -y -n keep1 -L 64m ${volumeGroup}`);
    await assertRefused(lv.removeLV({ name: "keep1" }), "VOLUME_PROTECTED");
    await assertRefused(lv.removeLV({ name: "pool" }), "VOLUME_PROTECTED");
    await assertRefused(lv.removeLV({ name: "pool_tdata" }), "VOLUME_PROTECTED");

    // A thin pool of 4 GiB offers 10 GiB at the ratio 2.5.
    assert.equal((await vg.getFreeBytes({ deviceClass: "thin" })).freeBytes, 10n * gib);
    await lv.createLV({ name: "thin1", sizeGb: 6n, deviceClass: "thin", tags: ["t"] });
    assert.equal((await vg.getFreeBytes({ deviceClass: "thin" })).freeBytes, 4n * gib);
    await assertRefused(lv.createLV({ name: "thin2", sizeGb: 5n, deviceClass: "thin" }), "NO_SPACE");
    await lv.resizeLV({ name: "thin1", sizeGb: 8n, deviceClass: "thin" });
    await assertRefused(lv.resizeLV({ name: "thin1", sizeGb: 11n, deviceClass: "thin" }), "NO_SPACE");
    assert.deepEqual(await namesOf("thin"), ["thin1"]);
    assert.deepEqual(await namesOf("thick"), ["keep1", "thin1"]);
    await assertRefused(vg.getFreeBytes({ deviceClass: "gone" }), "VOLUME_GROUP_GONE");
    await lv.removeLV({ name: "thin1", deviceClass: "thin" });
    assert.deepEqual(await namesOf("thin"), []);

    await checkSnapshots(transport, volumeGroup);

    // An outside change, and a group that disappears and returns.
    await shell(
      `vgexport -q ${volumeGroup} 2>/dev/null || { lvchange -an ${volumeGroup}; vgexport -q ${volumeGroup}; }`,
    );
    await untilRefused(() => vg.getFreeBytes({}), "VOLUME_GROUP_GONE");
    await shell(`vgimport -q ${volumeGroup}`);
    await untilAnswered(() => vg.getFreeBytes({}));
  } finally {
    await gateway.kill("SIGTERM");
    rmSync(folder, { recursive: true });
  }
}

/** Checks snapshots of today's lvmd protocol: of a thick volume, and of one in the empty thin pool. */
async function checkSnapshots(transport: Transport, volumeGroup: string): Promise<void> {
  const lv = createClient(CurrentLVService, transport);
  const write = (name: string, text: string) =>
    shell(`printf ${text} | dd of=/dev/${volumeGroup}/${name} conv=fsync,notrunc status=none`);
  const assertHolds = (name: string, text: string) =>
    shell(`test "$(dd if=/dev/${volumeGroup}/${name} bs=${text.length} count=1 status=none)" = ${text}`);
  for (const deviceClass of ["thick", "thin"]) {
    await lv.createLV({ name: "source", sizeBytes: gib + 1n, deviceClass });
    await write("source", "before");
    const snapshot = { sourceVolume: "source", deviceClass };
    const read = await lv.createLVSnapshot({ ...snapshot, name: "read", accessType: "ro" });
    assert.equal(read.snapshot?.sizeBytes, gib + (4n << 20n));
    assert.match(read.snapshot?.attr ?? "", deviceClass === "thin" ? /^Vri-a-tz--/ : /^sri-a-s---/);
    await lv.createLVSnapshot({ ...snapshot, name: "written", accessType: "rw" });
    await write("source", "behind");
    await assertHolds("read", "before");
    await assert.rejects(write("read", "other"), "it is read-only");
    await write("written", "rwrite");
    await assertHolds("written", "rwrite");
    await assertHolds("source", "behind");
    if (deviceClass === "thin") {
      await lv.createLVSnapshot({ ...snapshot, name: "larger", accessType: "ro", sizeBytes: 2n * gib });
      await shell(`test "$(blockdev --getsize64 /dev/${volumeGroup}/larger)" = ${2n * gib}`);
      await assertHolds("larger", "behind");
      await lv.removeLV({ name: "larger", deviceClass });
    }
    for (const name of ["read", "written", "source"]) {
      await lv.removeLV({ name, deviceClass });
    }
  }
}

async function untilRefused(call: () => Promise<unknown>, reason: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const error = await call().then(
      () => undefined,
      (thrown: unknown) => ConnectError.from(thrown),
    );
    if (error?.findDetails(ErrorInfoSchema)[0]?.reason === reason) {
      return;
    }
    await new Promise((wait) => setTimeout(wait, 200));
  }
  assert.fail(`never rejected with ${reason}`);
}

async function untilAnswered(call: () => Promise<unknown>): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    if (
      await call().then(
        () => true,
        () => false,
      )
    ) {
      return;
    }
    await new Promise((wait) => setTimeout(wait, 200));
  }
  await call();
}

// A program for the virtual machine: node test/lab/vm/volumes-on-dm.ts VOLUME-GROUP
await checkVolumesOnDeviceMapper(process.argv[2] ?? "");
