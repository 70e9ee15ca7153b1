import { chmod, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import { inspectSocketsDirectory, parseQemuUser } from "../../../adapters/libvirt/inspect-backups.ts";

const capabilities = new URL("samples/capabilities-tcg.xml", import.meta.url);

test("whom QEMU runs as is what libvirt's model of ownership says, if it has one", async (t) => {
  const text = await readFile(capabilities, "utf8");
  t.equal(parseQemuUser(text), undefined);
  const dac =
    "<secmodel><model>dac</model><doi>0</doi><baselabel type='kvm'>+64055:+108</baselabel></secmodel></host>";
  t.strictSame(parseQemuUser(text.replace("</host>", dac)), { uid: 64055, gid: 108 });
  t.equal(parseQemuUser(text.replace("</host>", dac.replace("+64055:+108", "label"))), undefined);
  t.throws(() => parseQemuUser("<other/>"));
});

test("a directory of sockets is one that the gateway writes and QEMU's user gets to", async (t) => {
  const directory = await mkdtemp("/tmp/hostplane-sockets-");
  t.teardown(() => rm(directory, { recursive: true }));
  const inner = join(directory, "inner");
  await mkdir(inner);
  await chmod(directory, 0o711);
  await chmod(inner, 0o755);
  const stranger = { uid: 64_055, gid: 64_055 };
  t.match(await inspectSocketsDirectory(inner, undefined), { ok: true });
  t.match(await inspectSocketsDirectory(inner, stranger), { ok: true });
  await chmod(directory, 0o700);
  t.match(await inspectSocketsDirectory(inner, undefined), { ok: true }, "QEMU runs as whoever libvirt is");
  t.match(await inspectSocketsDirectory(inner, { uid: 0, gid: 0 }), { ok: true });
  t.match(await inspectSocketsDirectory(inner, { ...stranger, uid: process.getuid?.() ?? 0 }), { ok: true });
  t.match(await inspectSocketsDirectory(inner, stranger), {
    ok: false,
    what: `the directory ${inner} for sockets of backups cannot be reached by QEMU's user 64055, who may not enter ${directory}`,
    fix: `sudo chmod o+x ${directory}, or name another in hypervisors.libvirt.socketsDirectory`,
  });
  await chmod(directory, 0o710);
  t.match(await inspectSocketsDirectory(inner, { uid: 64_055, gid: process.getgid?.() ?? 0 }), { ok: true });
});

test("what is no directory, or not there, is told with the way to make one", async (t) => {
  const file = t.testdir({ file: "" });
  t.match(await inspectSocketsDirectory(join(file, "file"), undefined), {
    ok: false,
    what: /is no directory/,
  });
  t.match(await inspectSocketsDirectory(join(file, "none"), undefined), {
    ok: false,
    what: /is not there$/,
    fix: /install -d .*none, or name another/,
  });
});
