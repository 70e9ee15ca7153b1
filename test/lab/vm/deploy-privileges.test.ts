import { readFileSync } from "node:fs";
import { join } from "node:path";
import tap, { test } from "tap";
import { root } from "../../server/cli/run-hostplane.ts";
import { createVm, vmSkipReason } from "./vm.ts";

const skip = await vmSkipReason();
const timeout = 600_000;
tap.setTimeout(timeout);

const dropIn = readFileSync(join(root, "deploy/systemd/hostplane.service.d/volumes.conf"), "utf8");
const [, capabilities = ""] = /^CapabilityBoundingSet=(.+)$/m.exec(dropIn) ?? [];

/** Returns the argv that starts a program as systemd would: as root with only these capabilities. */
function confined(granted: readonly string[]): string[] {
  const names = granted.map((name) => `+${name.replace("CAP_", "").toLowerCase()}`);
  return ["setpriv", "--no-new-privs", "--inh-caps=-all", `--bounding-set=${["-all", ...names].join(",")}`];
}

test("LVM needs no more than the capabilities of volumes.conf, and does not work without SYS_ADMIN", {
  skip,
  timeout,
}, async (t) => {
  const vm = await createVm({ name: "privileges", disks: ["24G"] });
  t.teardown(() => vm.stop());
  t.match(await vm.run("vgcreate -q dmvg /dev/vdb"), { exitCode: 0 });
  const granted = capabilities.split(" ");
  t.ok(granted.includes("CAP_SYS_ADMIN"), capabilities);

  // All kinds of changes that the adapter makes: thick and thin volumes, snapshots of both, extending, reducing and removing.
  const changes = [
    "lvcreate -q -y -n thick -L 64m dmvg",
    "lvextend -q -L 128m dmvg/thick",
    "lvcreate -q -y -s -n before -L 32m dmvg/thick",
    "lvcreate -q -y -T -L 64m -n pool dmvg",
    "lvcreate -q -y -T -V 64m -n thin dmvg/pool",
    "lvcreate -q -y -s -n thinbefore dmvg/thin",
    "lvremove -q -y dmvg/thinbefore dmvg/thin dmvg/before dmvg/thick dmvg/pool",
  ];
  for (const change of changes) {
    const { exitCode, stdout, stderr } = await vm.run([...confined(granted), ...change.split(" ")], {
      timeoutMs: 120_000,
    });
    t.equal(exitCode, 0, `${change}: ${stdout}${stderr}`);
    t.notMatch(stderr, /not permitted|denied/i, change);
  }
  const rest = granted.filter((name) => name !== "CAP_SYS_ADMIN");
  const probe = ["lvcreate", "-q", "-y", "-n", "probe", "-L", "64m", "dmvg"];
  t.match(await vm.run([...confined(rest), ...probe]), { exitCode: 3, stderr: /Permission denied/ });
});
