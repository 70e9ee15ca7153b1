import tap, { type Test, test } from "tap";
import type { StormReport } from "../lvm/volume-storm.ts";
import { createVm, vmSkipReason } from "./vm.ts";

const skip = await vmSkipReason();
/** Of each part: an emulated machine on a busy host is ten times slower than on an idle one. */
const timeout = 1_800_000;
tap.setTimeout(5 * timeout);

/** The long form, for `npm run test:full`: also the storm of clients and the adapter's contract, on device-mapper. */
const isFull = process.env.LAB_FULL === "1";

test("volumes on real device-mapper", { skip, timeout: 5 * timeout }, async (t) => {
  const vm = await createVm({ name: "volumes", disks: ["500G", "24G", "2G"] });
  t.teardown(() => vm.stop());
  t.match(
    await vm.run("vgcreate -q labvg /dev/vdb; vgcreate -q dmvg /dev/vdc; vgcreate -q servicevg /dev/vdd"),
    { exitCode: 0 },
  );

  await t.test("devices, open volumes, snapshots and thin pools", { timeout }, async (t) => {
    const result = await vm.run(["node", "test/lab/vm/volumes-on-dm.ts", "dmvg"], {
      timeoutMs: timeout - 60_000,
    });
    t.equal(result.exitCode, 0, result.stderr);
  });

  await t.test("snapshots, renaming and tags through VolumeService", { timeout }, async (t) => {
    const result = await vm.run(["node", "test/lab/vm/volume-service-on-dm.ts", "servicevg"], {
      timeoutMs: timeout - 60_000,
    });
    t.equal(result.exitCode, 0, result.stderr);
  });

  await t.test("clones, file systems, wiping and merges", { timeout }, async (t) => {
    const result = await vm.run(["node", "test/lab/vm/volume-content-on-dm.ts", "servicevg"], {
      timeoutMs: timeout - 60_000,
    });
    t.equal(result.exitCode, 0, result.stderr);
  });

  /** Runs a storm of test/lab/lvm in the machine. Returns its report. */
  async function stormOutput(t: Test, name: string, options: object): Promise<string> {
    const program = ["node", `test/lab/lvm/${name}.ts`, JSON.stringify(options)];
    const { exitCode, stdout, stderr } = await vm.run(program, { timeoutMs: timeout - 60_000 });
    t.equal(exitCode, 0, stderr);
    t.comment(stdout.trim());
    return stdout;
  }

  const longForm = { skip: !isFull && "only in the long form", timeout };
  await t.test("the gateway and LVM agree after a storm of clients", longForm, async (t) => {
    const options = {
      volumeGroup: "labvg",
      activation: "auto",
      volumeCount: 200,
      clientCount: 8,
      killedCreates: 50,
    };
    const report: StormReport = JSON.parse(await stormOutput(t, "volume-storm", options));
    t.equal(report.created, options.volumeCount);
    t.ok(report.shellToWatchMs < 5_000, "a change from a shell reaches an open Watch");
  });

  await t.test("no acknowledged volume is lost although the gateway is killed", longForm, async (t) => {
    const options = {
      volumeGroup: "labvg",
      activation: "auto",
      volumeCount: 200,
      clientCount: 8,
      kills: 20,
      seed: 1,
    };
    await vm.run("lvremove -q -y labvg");
    await stormOutput(t, "volume-kill-storm", options);
  });

  for (const file of ["lvm-loop", "lvm-killed-loop", "volume-events-loop"]) {
    await t.test(`the adapter keeps its contract: ${file}`, longForm, async (t) => {
      const program = ["env", "HOSTPLANE_LAB=required", "node", `test/lab/lvm/${file}.test.ts`];
      const { exitCode, stdout } = await vm.run(program, { timeoutMs: timeout - 60_000 });
      t.equal(exitCode, 0, stdout.slice(-20_000));
    });
  }
});
