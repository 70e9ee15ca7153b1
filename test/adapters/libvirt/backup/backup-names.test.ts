import fc from "fast-check";
import { test } from "tap";
import {
  backupSocket,
  isBackupOf,
  isScratchName,
  scratchPath,
} from "../../../../adapters/libvirt/backup/backup-names.ts";
import { assertSocketsDirectory } from "../../../../adapters/libvirt/names.ts";

test("a backup's socket is matched to its token in any directory, and has a short path", async (t) => {
  const token = `${"0".repeat(200)}.store`;
  const directory = `/run/${"d".repeat(45)}`;
  assertSocketsDirectory(directory, "directory");
  const socket = backupSocket(directory, token);
  t.ok(Buffer.byteLength(socket) <= 107, "sun_path of unix(7)");
  t.ok(isBackupOf(token, socket));
  t.ok(isBackupOf(token, backupSocket("/elsewhere", token)));
  for (const other of ["", "/nbd", "/run/somebody/nbd", backupSocket("/run", `${token}.`)]) {
    t.notOk(isBackupOf(token, other), other);
  }
});

test("property: tokens do not collide, and scratch files are distinguished from volumes", async () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (token, other) => {
      const name = scratchPath("/srv", token, "vda").slice("/srv/".length);
      return (
        isBackupOf(token, backupSocket("/tmp", other)) === (token === other) &&
        isScratchName(name) &&
        !isScratchName(other)
      );
    }),
  );
});
