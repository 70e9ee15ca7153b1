import { posix } from "node:path";
import fc from "fast-check";
import { test } from "tap";
import { assertMountFlags, assertTargetPath } from "../../../adapters/mounts/names.ts";

const roots = ["/var/lib/kubelet", "/srv/csi"];

function isAccepted(path: string): boolean {
  try {
    assertTargetPath(path, "target_path", roots);
    return true;
  } catch {
    return false;
  }
}

test("a target path must be plain, absolute, and below a root", async (t) => {
  t.ok(isAccepted("/var/lib/kubelet/pods/1/volumes/a b"));
  t.ok(isAccepted("/srv/csi/ä"));
  for (const path of [
    "",
    "var/lib/kubelet/a",
    "/var/lib/kubelet",
    "/var/lib/kubelet/",
    "/var/lib/kubelets/a",
    "/var/lib/kubelet/../a",
    "/var/lib/kubelet/./a",
    "/var/lib/kubelet//a",
    "/var/lib/kubelet/a/",
    "/var/lib/kubelet/a\nb",
    "/var/lib/kubelet/a\\b",
    `/var/lib/kubelet/${"a".repeat(256)}`,
    `/var/lib/kubelet/${"a/".repeat(2100)}a`,
  ]) {
    t.notOk(isAccepted(path), JSON.stringify(path));
  }
  t.throws(() => assertTargetPath("/etc/a", "target_path", roots), {
    reason: "INVALID_FIELD",
    message: /^target_path: must be below \/var\/lib\/kubelet or \/srv\/csi/,
  });
});

test("property: an accepted path stays below its root, however it is resolved", async () => {
  const part = fc.oneof(fc.constantFrom("..", ".", "", "a", "..a", "a..", "...", "kubelet"), fc.string());
  const path = fc
    .tuple(fc.constantFrom(...roots, "", "/", "/var/lib"), fc.array(part, { maxLength: 6 }))
    .map(([root, parts]) => [root, ...parts].join("/"));
  fc.assert(
    fc.property(path, (text) => {
      const isBelow = roots.some((root) => posix.resolve("/", text).startsWith(`${root}/`));
      return !isAccepted(text) || (isBelow && posix.resolve(text) === text);
    }),
    { numRuns: 2000 },
  );
});

test("mount flags cannot change what mount does", async (t) => {
  assertMountFlags(["noatime", "errors=remount-ro", "logbufs=8", "usrquota", "grpid"], "mount_flags");
  for (const flag of [
    "",
    "bind",
    "rbind",
    "user",
    "users",
    "user=name",
    "owner",
    "group",
    "helper=name",
    "uhelper=name",
    "remount",
    "move",
    "loop",
    "ro",
    "rw",
    "shared",
    "make-rshared",
    "x-systemd.automount",
    "X-mount.mkdir",
    "noatime,bind",
    "-o",
    "a b",
    "a\n",
  ]) {
    t.throws(
      () => assertMountFlags(["noatime", flag], "mount_flags"),
      { name: "InfraError", violations: [{ field: "mount_flags[1]" }] },
      JSON.stringify(flag),
    );
  }
  t.throws(() => assertMountFlags(new Array(300).fill("noatime"), "mount_flags"), {
    message: /at most 1024 characters/,
  });
});
