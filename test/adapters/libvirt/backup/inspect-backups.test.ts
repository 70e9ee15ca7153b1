import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "tap";
import {
  inspectAppArmor,
  inspectSocketsDirectory,
  parseConfinement,
} from "../../../../adapters/libvirt/backup/inspect-backups.ts";

const capabilities = new URL("../samples/capabilities-tcg.xml", import.meta.url);

test("reads QEMU's user and confinement from libvirt's security models", async (t) => {
  const text = await readFile(capabilities, "utf8");
  t.strictSame(parseConfinement(text), { user: undefined, isByAppArmor: false });
  const dac =
    "<secmodel><model>dac</model><doi>0</doi><baselabel type='kvm'>+64055:+108</baselabel></secmodel>";
  const models = `<secmodel><model>apparmor</model><doi>0</doi></secmodel>${dac}</host>`;
  t.strictSame(parseConfinement(text.replace("</host>", models)), {
    user: { uid: 64055, gid: 108 },
    isByAppArmor: true,
  });
  const unnumbered = models.replace("+64055:+108", "label");
  t.equal(parseConfinement(text.replace("</host>", unnumbered)).user, undefined);
  t.throws(() => parseConfinement("<other/>"));
});

test("AppArmor needs a rule for backups, which the finding shows", async (t) => {
  const directory = t.testdir({ others: "/srv/iso/* r,\n# /**/.hostplane-backup-* rwk,\n" });
  for (const file of ["none", "others"]) {
    t.match(await inspectAppArmor(join(directory, file)), { ok: false, fix: /systemctl reload apparmor$/ });
  }
  const { fix = "" } = await inspectAppArmor(join(directory, "none"));
  const [, rule = ""] = /^echo '(.*)'/.exec(fix) ?? [];
  await writeFile(join(directory, "own"), `${rule}\n`);
  t.match(await inspectAppArmor(join(directory, "own")), { ok: true });
});

test("a socket directory must be writable for the gateway and accessible to QEMU's user", async (t) => {
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
  t.match(await inspectSocketsDirectory(inner, undefined), { ok: true }, "QEMU runs as libvirt's user");
  t.match(await inspectSocketsDirectory(inner, { uid: 0, gid: 0 }), { ok: true });
  t.match(await inspectSocketsDirectory(inner, { ...stranger, uid: process.getuid?.() ?? 0 }), { ok: true });
  t.match(await inspectSocketsDirectory(inner, stranger), {
    ok: false,
    what: `the directory ${inner} for backup sockets cannot be reached by QEMU's user 64055, which may not enter ${directory}`,
    fix: `sudo chmod o+x ${directory}, or set hypervisors.libvirt.socketsDirectory`,
  });
  await chmod(directory, 0o710);
  t.match(await inspectSocketsDirectory(inner, { uid: 64_055, gid: process.getgid?.() ?? 0 }), { ok: true });
});

test("a missing or invalid directory is reported with the command that creates it", async (t) => {
  const file = t.testdir({ file: "" });
  t.match(await inspectSocketsDirectory(join(file, "file"), undefined), {
    ok: false,
    what: /is not a directory/,
  });
  t.match(await inspectSocketsDirectory(join(file, "none"), undefined), {
    ok: false,
    what: /does not exist$/,
    fix: /install -d .*none, or set /,
  });
});
