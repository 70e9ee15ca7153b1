import { readFile, stat, statfs } from "node:fs/promises";
import { blockDeviceNumber } from "../host/device-number.ts";
import { InfraError } from "../host/infra-error.ts";
import { createLimiter } from "../host/limiter.ts";
import { type ListedMount, parseMountInfo } from "../host/parse-mount-info.ts";
import { run } from "../host/process/run.ts";
import type { ToolEnd } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import type { DeviceContent, Mount, MountAdapter, MountStep } from "./adapter.ts";
import { commandOf } from "./commands.ts";
import { readDeviceStart } from "./device-start.ts";
import { errorFromMountStep } from "./errors.ts";
import { findHostNamespace, type HostNamespace } from "./host-namespace.ts";
import { createTarget, removeTarget, targetKindOf } from "./host-path.ts";
import { inspectMounts } from "./inspect.ts";
import { mountReasons } from "./reasons.ts";

export interface MountsOptions {
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /** Time after which blkid is stopped; 30,000 by default. */
  readonly readTimeoutMs?: number;
  /** Maximum number of commands that run at once; 4 by default. */
  readonly maxRunning?: number;
  /** Maximum number of commands that wait for a slot; 256 by default. */
  readonly maxWaiting?: number;
}

/** Creates the adapter for the mounts of this host. */
export function createMounts(options: MountsOptions = {}): MountAdapter {
  const { readTimeoutMs = 30_000, maxRunning = 4, maxWaiting = 256, onToolEnd } = options;
  const limiter = createLimiter({ what: "commands for mounts", maxRunning, maxWaiting });
  let found: Promise<HostNamespace> | undefined;

  function namespace(): Promise<HostNamespace> {
    found ??= findHostNamespace().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  }

  async function mounts(): Promise<readonly Mount[]> {
    const { root, mountInfoPath } = await namespace();
    const listed = parseMountInfo(await readFile(mountInfoPath, "utf8"));
    return Promise.all(listed.map((mount) => withNode(mount, root)));
  }

  async function content(device: string): Promise<DeviceContent> {
    const { root, argvOf } = await namespace();
    // Without its cache, which would be read first and might be older.
    const argv = argvOf("blkid", ["--probe", "--output", "export", "--", device]);
    const { exitCode, stdout, stderr } = await limiter.run(() =>
      run(argv, { kind: "read", timeoutMs: readTimeoutMs, onToolEnd }),
    );
    // 2: nothing found. 8: several types, which is not empty either.
    if (exitCode !== 0 && exitCode !== 2 && exitCode !== 8) {
      throw new InfraError(hostReasons.TOOL_FAILED, `${device} cannot be read: ${stderr.trim()}`);
    }
    const start = await readDeviceStart(root, device);
    const found = /^(?:TYPE|PTTYPE)=(.*)$/m.exec(stdout)?.[1];
    // blkid also ends with 2 if it cannot read the device.
    const type = start === "data" ? "data of an unknown type" : undefined;
    return {
      type: exitCode === 2 ? type : (found ?? "several signatures"),
      busy: start === "busy",
    };
  }

  async function runCommand(step: MountStep): Promise<void> {
    const { argvOf } = await namespace();
    const [program, ...args] = commandOf(step);
    const argv = argvOf(program, args);
    const result = await limiter.run(() => run(argv, { kind: "mutate", onToolEnd }));
    const error = errorFromMountStep(step, result);
    if (error !== undefined) {
      throw error;
    }
  }

  /**
   * Checks that a mount is where it was requested. The path was checked before, but mount(8) resolves it again.
   * @throws InfraError MOUNT_MISSING
   */
  async function assertMounted(path: string): Promise<void> {
    if (!(await mounts()).some((mount) => mount.path === path)) {
      throw new InfraError(
        mountReasons.MOUNT_MISSING,
        `${path} was mounted, but something replaced a directory on the way: see the mounts of the host`,
        { effect: "possible" },
      );
    }
  }

  return {
    kind: "real",
    mounts,
    content,
    async targetKind(path, field) {
      const { root } = await namespace();
      return targetKindOf({ root, path, field });
    },
    async use(path) {
      const { root } = await namespace();
      try {
        const facts = await statfs(root + path, { bigint: true });
        const isShutDown = await stat(root + path).then(
          () => false,
          (error: NodeJS.ErrnoException) => error.code === "EIO",
        );
        return {
          totalBytes: facts.blocks * facts.bsize,
          usedBytes: (facts.blocks - facts.bfree) * facts.bsize,
          availableBytes: facts.bavail * facts.bsize,
          totalInodes: facts.files,
          usedInodes: facts.files - facts.ffree,
          availableInodes: facts.ffree,
          isShutDown,
        };
      } catch (cause) {
        const words = cause instanceof Error ? cause.message : String(cause);
        throw new InfraError(hostReasons.TOOL_FAILED, `${path} cannot be read: ${words}`, { cause });
      }
    },
    commandOf,
    async run(step) {
      const { root } = await namespace();
      switch (step.kind) {
        case "createDirectory":
        case "createFile":
          await createTarget(
            { root, path: step.path, field: "target_path" },
            step.kind === "createFile" ? "file" : "directory",
          );
          break;
        case "removeTarget":
          await removeTarget({ root, path: step.path, field: "target_path" });
          break;
        case "mount":
        case "bind":
          await runCommand(step);
          await assertMounted(step.path);
          break;
        default:
          await runCommand(step);
      }
    },
    inspect: (roots) => inspectMounts(namespace, roots),
  };
}

/** A mount whose root is a file may be that of a device node. */
async function withNode(mount: ListedMount, root: string): Promise<Mount> {
  const { root: _, ...rest } = mount;
  const isNode = mount.fileSystem === "devtmpfs" && mount.root !== "/";
  return { ...rest, node: isNode ? await blockDeviceNumber(root + mount.path) : undefined };
}
