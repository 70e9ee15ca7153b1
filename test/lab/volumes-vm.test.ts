import tap, { test } from "tap";
import { createVm, vmSkipReason } from "./vm.ts";
import type { StormReport } from "./volume-storm.ts";

const skip = await vmSkipReason();
tap.setTimeout(900_000);

test("volumes on real device-mapper", { skip, timeout: 900_000 }, async (t) => {
  const vm = await createVm({ name: "volumes", disks: ["500G", "24G"] });
  t.teardown(() => vm.stop());
  t.match(await vm.run("vgcreate -q labvg /dev/vdb; vgcreate -q dmvg /dev/vdc"), { exitCode: 0 });

  await t.test("devices, open volumes, snapshots and thin pools", { timeout: 300_000 }, async (t) => {
    const result = await vm.run(["node", "test/lab/volumes-on-dm.ts", "dmvg"], { timeoutMs: 280_000 });
    t.equal(result.exitCode, 0, result.stderr);
  });

  await t.test(
    "a storm of clients leaves the gateway and LVM in agreement",
    { timeout: 600_000 },
    async (t) => {
      const options = {
        volumeGroup: "labvg",
        activation: "auto",
        // Under emulation a single lvcreate takes more than a second.
        volumeCount: Number(process.env.STORM_VOLUMES ?? 24),
        clientCount: 8,
        killedCreates: 10,
      };
      const program = ["node", "test/lab/volume-storm.ts", JSON.stringify(options)];
      const { exitCode, stdout, stderr } = await vm.run(program, { timeoutMs: 580_000 });
      t.equal(exitCode, 0, stderr);
      const report: StormReport = JSON.parse(stdout);
      t.comment(stdout.trim());
      t.equal(report.created, options.volumeCount);
      t.ok(report.shellToWatchMs < 5_000, "a change typed in a shell reaches an open Watch");
    },
  );
});
