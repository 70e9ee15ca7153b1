import { copyFileSync } from "node:fs";
import { join } from "node:path";
import tap, { test } from "tap";
import { goTool } from "../../foreign/foreign-tool.ts";
import { createVm, vmSkipReason } from "./vm.ts";

const skip =
  process.env.LAB_FULL === "1"
    ? await vmSkipReason()
    : "takes half an hour and more; set LAB_FULL=1 (npm run test:full)";
/** Of each part: an emulated machine on a busy host is ten times slower than on an idle one. */
const timeout = 1_800_000;
tap.setTimeout(4 * timeout);

test("the CSI driver on real device-mapper, with mounts", { skip, timeout: 4 * timeout }, async (t) => {
  const sanity = await goTool("github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity", "v5.6.0");
  const vm = await createVm({ name: "csi", disks: ["4G", "4G"] });
  t.teardown(() => vm.stop());
  t.match(await vm.run("vgcreate -q csivg /dev/vdb; vgcreate -q sanityvg /dev/vdc"), { exitCode: 0 });
  // A private mount namespace, as systemd gives the gateway: a mount made there would be invisible to others.
  const program = (...words: readonly string[]) => ["unshare", "--mount", "node", ...words];

  await t.test("file systems, block devices, clones, growth, refusals and kills", { timeout }, async (t) => {
    const argv = program("test/lab/vm/csi-on-dm.ts", "csivg");
    const result = await vm.run(argv, { timeoutMs: timeout - 60_000 });
    t.equal(result.exitCode, 0, `${result.stdout.slice(-4000)}${result.stderr.slice(-8000)}`);
  });

  if (sanity.skip === false) {
    copyFileSync(sanity.path, join(vm.shareDir, "csi-sanity"));
  }
  for (const accessType of ["mount", "block"]) {
    await t.test(`csi-sanity: ${accessType}`, { skip: sanity.skip, timeout }, async (t) => {
      const argv = program("test/lab/vm/csi-sanity-on-dm.ts", "sanityvg", "/share/csi-sanity", accessType);
      const { exitCode, stdout, stderr } = await vm.run(argv, { timeoutMs: timeout - 60_000 });
      t.comment(/Ran \d+ of.*/.exec(stdout)?.[0] ?? "");
      t.equal(exitCode, 0, `${stdout.slice(-20_000)}${stderr.slice(-4000)}`);
    });
  }
});
