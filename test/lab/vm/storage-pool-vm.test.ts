import tap, { test } from "tap";
import { createVm, vmSkipReason } from "./vm.ts";

const skip = await vmSkipReason();
const timeout = 1_800_000;
tap.setTimeout(timeout);

test("a volume group grows and shrinks with data in use, whatever is killed", {
  skip,
  timeout,
}, async (t) => {
  const vm = await createVm({ name: "storage-pool", disks: ["600M", "1G", "600M", "200M"] });
  t.teardown(() => vm.stop());
  const program = ["node", "test/lab/vm/storage-pool-on-dm.ts"];
  const { exitCode, stdout, stderr } = await vm.run(program, { timeoutMs: timeout - 60_000 });
  t.equal(exitCode, 0, stderr);
  t.comment(`${stdout}\n${stderr}`);
});
