import { test } from "tap";
import { createNameMatch } from "../../../../adapters/host/name-match.ts";
import { assertRemovable, assertResizable } from "../../../../server/domains/volumes/protection.ts";
import { groupOf, stateOf, volumeOf } from "./lvm-state.ts";

const isProtectedName = createNameMatch(["root", "swap*", "db-?", "a.b"]);

test("patterns match whole names, and only * and ? are special", async (t) => {
  for (const name of ["root", "swap", "swap1", "db-1", "a.b"]) {
    t.ok(isProtectedName(name), name);
  }
  for (const name of ["root2", "myroot", "db-12", "db-", "aXb"]) {
    t.notOk(isProtectedName(name), name);
  }
});

test("protected volumes and origins of snapshots are not removed; open volumes are left to LVM", async (t) => {
  const origin = volumeOf("vg0", "data");
  const state = stateOf(
    [groupOf("vg0", 0n)],
    [
      origin,
      volumeOf("vg0", "snap", { kind: "snapshot", originName: "data" }),
      volumeOf("vg0", "base"),
      volumeOf("vg0", "thinsnap", { kind: "thinVolume", originName: "base", thinPoolName: "p" }),
      volumeOf("vg1", "snap", { kind: "snapshot", originName: "base" }),
    ],
  );
  t.throws(() => assertRemovable(volumeOf("vg0", "swap1"), state, isProtectedName), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
  });
  t.throws(() => assertRemovable(origin, state, isProtectedName), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
    message: /origin of snap/,
  });
  const used = volumeOf("vg0", "used", { active: true, open: true });
  t.doesNotThrow(() => assertRemovable(used, state, isProtectedName));
  t.doesNotThrow(() => assertRemovable(volumeOf("vg0", "base"), state, isProtectedName));
});

test("protected volumes and copy-on-write snapshots are not resized", async (t) => {
  t.throws(() => assertResizable(volumeOf("vg0", "root"), isProtectedName), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
  });
  t.throws(() => assertResizable(volumeOf("vg0", "s", { kind: "snapshot" }), isProtectedName), {
    name: "InfraError",
    reason: "VOLUME_PROTECTED",
  });
  t.doesNotThrow(() => assertResizable(volumeOf("vg0", "open", { open: true }), isProtectedName));
});
