import { type DeviceNumber, isSameDevice } from "../host/device-number.ts";
import { invalidField } from "../host/infra-error.ts";
import type { SandboxOptions } from "../sandbox/sandbox-options.ts";
import { createStepFaults } from "../sandbox/step-faults.ts";
import type { FileSystemType, Mount, MountAdapter, MountStep, TargetKind } from "./adapter.ts";
import { commandOf } from "./commands.ts";
import { keptFlags } from "./names.ts";

export interface MountsSandboxOptions extends SandboxOptions<MountStep> {
  /** Directories that exist at the start, with those that contain them. */
  readonly directories?: readonly string[];
  /** Returns the number of a device; undefined if there is no such device. */
  readonly numberOf: (device: string) => Promise<DeviceNumber | undefined>;
}

const mebibyte = 1n << 20n;
/** The file system that contains device nodes, as on a real host. */
const devtmpfs: DeviceNumber = { major: 0, minor: 5 };

/** Mounts in memory, by the same rules as the real ones. Nothing on the host is touched. */
export function createMountsSandbox(options: MountsSandboxOptions): MountAdapter {
  const { numberOf, faults = createStepFaults<MountStep>() } = options;
  const targets = new Map<string, TargetKind>();
  const contents = new Map<string, FileSystemType>();
  let mounts: readonly Mount[] = [];

  for (const directory of options.directories ?? []) {
    const names = directory.split("/").slice(1);
    for (let length = 1; length <= names.length; length += 1) {
      targets.set(`/${names.slice(0, length).join("/")}`, "directory");
    }
  }

  const isMounted = (number: DeviceNumber | undefined) =>
    mounts.some(({ device }) => isSameDevice(device, number));

  function kindOf(path: string, field: string): TargetKind {
    const names = path.split("/").slice(1);
    for (let length = 1; length < names.length; length += 1) {
      const parent = targets.get(`/${names.slice(0, length).join("/")}`);
      if (parent === undefined) {
        return "absent";
      }
      if (parent !== "directory") {
        throw invalidField(field, "must not lead through a symbolic link or a file");
      }
    }
    return targets.get(path) ?? "absent";
  }

  function createTarget(path: string, kind: TargetKind): void {
    const parent = path.slice(0, path.lastIndexOf("/"));
    if (parent !== "" && kindOf(parent, "target_path") !== "directory") {
      throw invalidField("target_path", "the directory that contains it does not exist");
    }
    if (!targets.has(path)) {
      targets.set(path, kind);
    }
  }

  async function bind(step: Extract<MountStep, { kind: "bind" }>): Promise<void> {
    const { source, path, readOnly } = step;
    const mounted = mounts.findLast((mount) => mount.path === source);
    const node = await numberOf(source);
    const flags = readOnly ? ["ro", ...step.flags] : ["rw"];
    if (mounted !== undefined) {
      const kept = readOnly ? flags : mounted.flags;
      mounts = [...mounts, { ...mounted, path, flags: kept }];
    } else if (node !== undefined) {
      const source = "devtmpfs";
      mounts = [
        ...mounts,
        { path, device: devtmpfs, node, fileSystem: source, source, flags, fileSystemOptions: ["rw"] },
      ];
    }
  }

  async function apply(step: MountStep): Promise<void> {
    switch (step.kind) {
      case "format":
        contents.set(step.device, step.fileSystem);
        break;
      case "mount": {
        const isReadOnly = step.flags.includes("ro");
        const access = isReadOnly ? "ro" : "rw";
        mounts = [
          ...mounts,
          {
            path: step.path,
            device: (await numberOf(step.device)) ?? devtmpfs,
            node: undefined,
            fileSystem: step.fileSystem,
            source: step.device,
            flags: [access, ...step.flags.filter((flag) => keptFlags.includes(flag))],
            fileSystemOptions: [
              access,
              ...step.flags.filter((flag) => flag !== "ro" && !keptFlags.includes(flag)),
            ],
          },
        ];
        break;
      }
      case "bind":
        await bind(step);
        break;
      case "unmount": {
        const index = mounts.findLastIndex(({ path }) => path === step.path);
        mounts = mounts.filter((_, at) => at !== index);
        break;
      }
      case "check":
      case "grow":
        break;
      case "createDirectory":
        createTarget(step.path, "directory");
        break;
      case "createFile":
        createTarget(step.path, "file");
        break;
      case "removeTarget":
        targets.delete(step.path);
        break;
    }
  }

  return {
    kind: "sandbox",
    mounts: async () => mounts,
    targetKind: async (path, field) => kindOf(path, field),
    content: async (device) => ({
      type: contents.get(device),
      busy: isMounted(await numberOf(device)),
    }),
    use: async () => ({
      totalBytes: 1000n * mebibyte,
      usedBytes: 250n * mebibyte,
      availableBytes: 750n * mebibyte,
      totalInodes: 65_536n,
      usedInodes: 11n,
      availableInodes: 65_525n,
      isShutDown: false,
    }),
    commandOf,
    async run(step) {
      faults.assertWorks(step);
      await apply(step);
    },
    inspect: async () => [{ ok: true, what: "mounts exist only in memory and disappear with the gateway" }],
  };
}
