import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import tap, { test } from "tap";
import { cephSkipReason, startCeph } from "../ceph/ceph.ts";
import { startS3Gate } from "../ceph/s3-gate.ts";
import type { BackupLabOptions } from "./backup-lab.ts";
import { createVm, vmSkipReason } from "./vm.ts";

const skip = (await vmSkipReason()) || cephSkipReason();
/** The long form, for `npm run test:full`; in an emulated machine restic transfers about 8 MiB a second. */
const isFull = process.env.LAB_FULL === "1";
const sizeMib = isFull ? 1024 : 32;
const timeout = isFull ? 5_400_000 : 1_800_000;
tap.setTimeout(timeout);

test("volumes on real device-mapper are backed up to real S3 and restored", { skip, timeout }, async (t) => {
  const ceph = await startCeph(t);
  // restic needs 200 MiB in addition to the gateway and this test's program.
  const vm = await createVm({ name: "backups", disks: ["16G"], memoryMib: 1024 });
  t.teardown(() => vm.stop());
  const created = await vm.run("vgcreate -q dmvg /dev/vdb && lvcreate -q -y -T -L 5g -n pool dmvg");
  t.match(created, { exitCode: 0 });
  const options: BackupLabOptions = {
    volumeGroup: "dmvg",
    sizeMib,
    isKilled: isFull,
    endpoint: (await startS3Gate(t, ceph.s3Url)).replace("127.0.0.1", "10.0.2.2"),
    ...(await ceph.createS3User()),
  };
  await writeFile(join(vm.shareDir, "options.json"), JSON.stringify(options));

  const program = ["node", "test/lab/vm/backups-on-dm.ts", "/share/options.json"];
  const { exitCode, stdout, stderr } = await vm.run(program, { timeoutMs: timeout - 120_000 });
  t.equal(exitCode, 0, stderr);
  t.comment(`${sizeMib} MiB: ${stdout.trim()}`);
});
