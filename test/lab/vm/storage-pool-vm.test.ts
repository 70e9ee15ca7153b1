import tap, { test } from "tap";
import { createVm, vmSkipReason } from "./vm.ts";

const skip = await vmSkipReason();
const timeout = 1_800_000;
tap.setTimeout(timeout);

test("storage pools on real device-mapper", { skip, timeout }, async (t) => {
  const vm = await createVm({ name: "storage-pool", disks: ["600M", "1G", "600M", "200M"] });
  t.teardown(() => vm.stop());

  await t.test("a move that is not active is aborted", { timeout }, async (t) => {
    const { exitCode, stderr } = await vm.run(["node", "test/lab/vm/inactive-move-on-dm.ts"], {
      timeoutMs: 300_000,
    });
    t.equal(exitCode, 0, stderr);
  });

  await t.test(
    "a volume group grows and shrinks with data in use, whatever is killed",
    { timeout },
    async (t) => {
      const program = ["node", "test/lab/vm/storage-pool-on-dm.ts"];
      const { exitCode, stdout, stderr } = await vm.run(program, { timeoutMs: timeout - 60_000 });
      t.equal(exitCode, 0, stderr);
      t.comment(`${stdout}\n${stderr}`);
    },
  );
});
