import tap, { test } from "tap";
import { createVm, vmSkipReason } from "./vm.ts";

const skip = await vmSkipReason();
const timeout = 1_800_000;
tap.setTimeout(timeout);

/** The long form, for `npm run test:full`, also kills the gateway. */
const full = process.env.LAB_FULL ?? "";

test("volumes of a volume group are backed up through snapshots while they are written to, and are restored", {
  skip,
  timeout,
}, async (t) => {
  // restic needs 200 MiB in addition to the gateway and this test's program.
  const vm = await createVm({ name: "storage-pool-backup", disks: ["1G", "1G"], memoryMib: 1024 });
  t.teardown(() => vm.stop());
  const program = ["env", `LAB_FULL=${full}`, "node", "test/lab/vm/storage-pool-backup-on-dm.ts"];
  const { exitCode, stdout, stderr } = await vm.run(program, { timeoutMs: timeout - 60_000 });
  t.equal(exitCode, 0, stderr);
  t.comment(`${stdout}\n${stderr}`);
});
