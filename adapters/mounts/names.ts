import { invalidField } from "../host/infra-error.ts";

/** Longest path that the kernel accepts (PATH_MAX) without its final NUL. */
const maxPathBytes = 4095;
const maxNameBytes = 255;
const maxFlagsLength = 1024;

/**
 * Flags that belong to one mount of a file system. mount(8) before 2.39 makes a bind mount read-only by a second system call, which
 * drops those that it does not repeat: `-o bind,ro` of a mount with `nosuid,nodev,noexec` is `ro` only.
 */
export const keptFlags: readonly string[] = ["noatime", "nodev", "nodiratime", "noexec", "nosuid"];

/** Flags that the kernel shows exactly as requested, by which two mounts are compared. It shows the last two with the file system. */
export const comparedFlags: readonly string[] = [...keptFlags, "dirsync", "sync"];

/**
 * Options that the kernel shows for a file system which it no longer writes to after an error. Linux 6.18 shows one of the last two
 * for ext4, and leaves it `rw`. The first one may also have been requested.
 */
export const faultOptions: readonly string[] = ["ro", "emergency_ro", "shutdown"];

/**
 * Options with which mount(8) would do something other than mount this device at this path, and those of its own that let others
 * mount or unmount it. `user` and the like also imply nosuid, nodev and noexec.
 */
const otherMeanings =
  /^(r?bind|move|remount|loop|offset|sizelimit|(make-)?(r?shared|r?slave|r?private)|ro|rw|users?(=.*)?|owner|group|u?helper=.*|[xX]-.*)$/;

/**
 * Rejects paths that are not a plain absolute path: with empty names, `.` or `..`, or a control character.
 * @throws InfraError INVALID_FIELD
 */
export function assertAbsolutePath(path: string, field: string): void {
  if (!path.startsWith("/")) {
    throw invalidField(field, "must be an absolute path");
  }
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw invalidField(field, `must have at most ${maxPathBytes} bytes`);
  }
  // mount(8) and mountinfo escape some of these; none occurs in a path that an orchestrator chooses.
  if (/[\p{Cc}\\]/u.test(path)) {
    throw invalidField(field, "must not contain control characters or backslashes");
  }
  for (const name of path.slice(1).split("/")) {
    if (name === "" || name === "." || name === "..") {
      throw invalidField(field, `must not contain empty names, "." or ".."`);
    }
    if (Buffer.byteLength(name) > maxNameBytes) {
      throw invalidField(field, `must have names of at most ${maxNameBytes} bytes`);
    }
  }
}

/**
 * Rejects paths that are not below one of the roots.
 * @throws InfraError INVALID_FIELD
 */
export function assertTargetPath(path: string, field: string, roots: readonly string[]): void {
  assertAbsolutePath(path, field);
  if (!roots.some((root) => path.startsWith(`${root}/`))) {
    throw invalidField(field, `must be below ${roots.join(" or ")} (\`volumes.csi.roots\`)`);
  }
}

/**
 * Rejects mount flags that change the meaning of mount(8), or that could be read as several.
 * @throws InfraError INVALID_FIELD
 */
export function assertMountFlags(flags: readonly string[], field: string): void {
  for (const [index, flag] of flags.entries()) {
    if (!/^[A-Za-z0-9][A-Za-z0-9_.:=+-]*$/.test(flag)) {
      throw invalidField(`${field}[${index}]`, "may contain only letters, digits and _ . : = + -");
    }
    if (otherMeanings.test(flag)) {
      throw invalidField(`${field}[${index}]`, `must not be ${flag}, which is not a flag of a file system`);
    }
  }
  if (flags.join(",").length > maxFlagsLength) {
    throw invalidField(field, `must be at most ${maxFlagsLength} characters long together`);
  }
}
