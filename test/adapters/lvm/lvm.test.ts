import { test } from "tap";
import type { ToolEnd } from "../../../adapters/host/run.ts";
import { parseBackupConfiguration } from "../../../adapters/lvm/backup-configuration.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";
import { reasonOf } from "../host/reason-of.ts";

// What needs a real lvm is in test/lab/lvm-loop.test.ts.

test("without the lvm program everything says so, and the inspection how to get it", async (t) => {
  const ends: ToolEnd[] = [];
  const lvm = createLvm({ command: ["hostplane-no-such-lvm"], onToolEnd: (end) => ends.push(end) });
  t.equal(await reasonOf(lvm.read()), "TOOL_MISSING");
  t.equal(
    await reasonOf(lvm.run({ kind: "activate", volumeGroupName: "vg0", name: "data" })),
    "TOOL_MISSING",
  );
  const { version, findings } = await lvm.inspect();
  t.equal(version, undefined);
  t.match(findings, [{ ok: false, what: /hostplane-no-such-lvm/, fix: /lvm2/ }]);
  t.ok(ends.every(({ failure }) => failure === "TOOL_MISSING"));
  await lvm.close();
});

test("a prefix without lvm behind it is TOOL_MISSING too", async (t) => {
  const lvm = createLvm({ command: ["env", "hostplane-no-such-lvm"] });
  t.equal(await reasonOf(lvm.read()), "TOOL_MISSING");
  t.match((await lvm.inspect()).findings, [{ ok: false }]);
  await lvm.close();
});

test("a reading lvm that hangs is TOOL_TIMEOUT", async (t) => {
  const lvm = createLvm({ command: ["sh", "-c", "sleep 30"], readTimeoutMs: 100 });
  t.equal(await reasonOf(lvm.read()), "TOOL_TIMEOUT");
  await lvm.close();
});

test("no more commands wait than may, and the rest are told the limit", async (t) => {
  const lvm = createLvm({ command: ["sh", "-c", "sleep 0.2; exit 1"], maxRunning: 1, maxWaiting: 2 });
  const step = { kind: "activate", volumeGroupName: "vg0", name: "data" } as const;
  const reasons = await Promise.all(Array.from({ length: 5 }, () => reasonOf(lvm.run(step))));
  t.strictSame(reasons, ["TOOL_FAILED", "TOOL_FAILED", "TOOL_FAILED", "BUSY", "BUSY"]);
  await lvm.close();
});

test("the backup configuration is read from lvmconfig's words", (t) => {
  t.strictSame(parseBackupConfiguration('backup=1\nbackup_dir="/etc/lvm/backup"\n'), {
    enabled: true,
    directory: "/etc/lvm/backup",
  });
  t.match(parseBackupConfiguration('backup_dir="/x y"\nbackup=0\n'), { enabled: false, directory: "/x y" });
  t.match(parseBackupConfiguration(""), { enabled: false, directory: undefined });
  t.end();
});
