import { setTimeout as sleep } from "node:timers/promises";
import tap, { type Test, test } from "tap";
import { refusalDisks, refusals } from "./lvm-refusals.ts";
import { createVm, type Vm, vmSkipReason } from "./vm.ts";

/** What the machine and its LVM do changes only with Debian; the other tests in machines fail if it does not boot. */
const skip =
  process.env.LAB_FULL === "1"
    ? await vmSkipReason()
    : "only in the long form: LAB_FULL=1 (npm run test:full)";
// A minute for the image if it is not cached, a minute or two for LVM under emulation.
tap.setTimeout(600_000);

async function vmFor(t: Test, name: string, forwards: readonly number[] = []): Promise<Vm> {
  const vm = await createVm({ name, disks: refusalDisks, forwards });
  t.teardown(() => vm.stop());
  return vm;
}

async function succeed(vm: Vm, command: string | readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await vm.run(command);
  if (exitCode !== 0) {
    throw new Error(`${command} ended with ${exitCode}: ${stderr}`);
  }
  return stdout;
}

test("a machine with device-mapper", { skip, timeout: 600_000 }, async (t) => {
  const vm = await vmFor(t, "smoke", [8080]);

  await t.test("runs this repository's Node on this repository, read-only", async (t) => {
    t.equal(await succeed(vm, ["node", "-p", "process.version"]), `${process.version}\n`);
    t.match(await succeed(vm, ["node", "-p", "require('/repo/package.json').name"]), "hostplane");
    t.match(await vm.run("touch /repo/touched"), { exitCode: 1, stderr: /Read-only file system/ });
  });

  await t.test("keeps arguments, exit codes and output separate", async (t) => {
    t.same(await vm.run(["printf", "%s", "a 'b' $HOME"]), { exitCode: 0, stdout: "a 'b' $HOME", stderr: "" });
    t.same(await vm.run("echo out; echo err >&2; exit 7"), { exitCode: 7, stdout: "out\n", stderr: "err\n" });
    await t.rejects(vm.run("sleep 30", { timeoutMs: 1000 }), /timed out after 1000 ms/);
  });

  await t.test("is reachable through a forwarded port", async (t) => {
    await succeed(
      vm,
      `node -e 'require("http").createServer((q, s) => s.end("hello")).listen(8080)' >/dev/null 2>&1 &`,
    );
    let answer = "";
    for (let attempt = 0; attempt < 50 && answer === ""; attempt++) {
      answer = await fetch(`http://127.0.0.1:${vm.hostPort(8080)}/`).then(
        (response) => response.text(),
        () => "",
      );
      if (answer === "") {
        await sleep(200);
      }
    }
    t.equal(answer, "hello");
  });

  await t.test("creates thin volumes, snapshots and raid1", async (t) => {
    await succeed(vm, "vgcreate -q vg0 /dev/disk/by-id/virtio-disk1; vgcreate -q vg1 /dev/vdc /dev/vdd");
    await succeed(vm, "lvcreate -q -y -n linear -L 64m vg0; lvcreate -q -s -n classic -L 16m vg0/linear");
    await succeed(vm, "lvcreate -q -n pool -L 64m -T vg0; lvcreate -q -n thin -V 1g -T vg0/pool");
    await succeed(
      vm,
      "lvcreate -q -s -n thinsnap vg0/thin; lvcreate -q -y --type raid1 -m1 -n mirrored -L 32m vg1",
    );
    const types = await succeed(
      vm,
      "lvs --noheadings -o lv_name,segtype -O lv_name | awk '{ print $1, $2 }'",
    );
    t.same(types.trim().split("\n"), [
      "classic linear",
      "linear linear",
      "mirrored raid1",
      "pool thin-pool",
      "thin thin",
      "thinsnap thin",
    ]);
    await succeed(vm, "mkfs.ext4 -q /dev/vg0/thin; mount /dev/vg0/thin /mnt; umount /mnt");
    await succeed(vm, "vgremove -q -y vg0 vg1; wipefs -q -a /dev/vdb /dev/vdc /dev/vdd");
  });

  await t.test("runs some dangerous commands without asking for confirmation", async (t) => {
    await succeed(vm, "vgcreate -q vg0 /dev/vdb; lvcreate -q -y -n origin -L 64m vg0");
    await succeed(vm, "lvcreate -q -s -n snap -L 8m vg0/origin");
    t.match(await vm.run("lvchange -an vg0/origin"), { exitCode: 0, stderr: "" });
    t.match(await vm.run("lvremove vg0/origin"), {
      exitCode: 0,
      stdout: /"snap" successfully removed.*\n.*"origin" successfully removed/,
    });
    t.match(await vm.run("lvcreate -q -n pool -L 64m -T vg0; lvcreate -n thin -V 1g -T vg0/pool"), {
      exitCode: 0,
      stdout: /You have not turned on protection against thin pools running out of space/,
      stderr: /Sum of all thin volume sizes \(1.00 GiB\) exceeds the size of thin pool vg0\/pool/,
    });
    t.match(await vm.run("lvchange -an vg0/pool; lvchange -an vg0/thin; lvremove vg0/thin"), {
      exitCode: 0,
    });
    await succeed(vm, "vgremove -q -y vg0; wipefs -q -a /dev/vdb");
  });

  await t.test("refuses what would lose data, with a message", { timeout: 300_000 }, async (t) => {
    for (const { name, given, argv, exitCode, stderr } of refusals) {
      if (given !== undefined) {
        await succeed(vm, `set -e; ${given}`);
      }
      const result = await vm.run(argv);
      t.match(result, { exitCode, stderr }, name);
      t.comment(`${argv.join(" ")}: ${result.stderr.trim()}`);
    }
  });
});
