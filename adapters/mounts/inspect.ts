import type { MountFinding } from "./adapter.ts";
import { tools } from "./commands.ts";
import type { HostNamespace } from "./host-namespace.ts";
import { targetKindOf } from "./host-path.ts";

const packages: Readonly<Record<string, string>> = {
  blkid: "util-linux",
  mount: "mount",
  umount: "mount",
  "mkfs.ext4": "e2fsprogs",
  e2fsck: "e2fsprogs",
  resize2fs: "e2fsprogs",
  "mkfs.xfs": "xfsprogs",
  xfs_growfs: "xfsprogs",
};

/** Checks the mount namespace, the programs, and the roots. Never throws. */
export async function inspectMounts(
  namespace: () => Promise<HostNamespace>,
  roots: readonly string[],
): Promise<MountFinding[]> {
  try {
    const { argvOf, root } = await namespace();
    const missing = tools.filter((tool) => isMissing(() => argvOf(tool, [])));
    const programs: MountFinding =
      missing.length === 0
        ? { ok: true, what: `programs for file systems found: ${tools.join(", ")}` }
        : {
            ok: false,
            what: `programs for file systems not found: ${missing.join(", ")}`,
            fix: `sudo apt-get install ${[...new Set(missing.map((tool) => packages[tool] ?? tool))].join(" ")}`,
          };
    const directories = roots.map(async (path): Promise<MountFinding> => {
      const kind = await targetKindOf({ root, path, field: path }).catch(() => "other");
      return kind === "directory"
        ? { ok: true, what: `${path} is a directory` }
        : {
            ok: false,
            what: `${path} is ${kind === "absent" ? "missing" : "not a directory, or leads through a symbolic link"}`,
            fix: `name the directory itself in volumes.csi.roots, for example that of the kubelet's --root-dir`,
          };
    });
    return [programs, ...(await Promise.all(directories))];
  } catch (error) {
    return [
      {
        ok: false,
        what: error instanceof Error ? error.message : String(error),
        fix: "install deploy/systemd/hostplane.service.d/csi.conf, or run the gateway as root",
      },
    ];
  }
}

function isMissing(find: () => unknown): boolean {
  try {
    find();
    return false;
  } catch {
    return true;
  }
}
