import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type LvmCommandOptions, lvmCommand } from "../../../adapters/lvm/commands.ts";
import { startGatewayProcess } from "../../lab/gateway-process.ts";
import {
  type LoopVolumeGroups,
  makeLoopVolumeGroups,
  reasonToSkip,
} from "../../lab/lvm/loop-volume-group.ts";

/** Extents for all volumes of a benchmark at 1 GiB each; the backing file is sparse. */
const extentCount = 150_000;

/** A volume group, and the LVM commands for it as typed in a shell. */
export interface VolumeGroupUnderBench {
  readonly name: string;
  readonly options: LvmCommandOptions;
  readonly systemDir: string;
  /** Environment of the commands. */
  readonly env: NodeJS.ProcessEnv;
  run(argv: readonly string[]): Promise<unknown>;
}

/** Returns why LVM cannot be used here, or false. */
export async function lvmSkipReason(): Promise<string | false> {
  return (await reasonToSkip()) ?? false;
}

/** Creates a volume group with the given number of 1 GiB volumes on a loop device. */
export async function openVolumeGroup(
  opened: AsyncDisposableStack,
  volumeCount: number,
): Promise<VolumeGroupUnderBench> {
  const groups: LoopVolumeGroups = await makeLoopVolumeGroups(
    { teardown: (close) => opened.defer(async () => void (await close?.())) },
    1,
    extentCount,
  );
  const { names, options } = groups;
  const [name = ""] = names;
  const systemDir = options.systemDir ?? "";
  const env = { ...process.env, LVM_SYSTEM_DIR: systemDir, LVM_SUPPRESS_FD_WARNINGS: "1" };
  const run = async ([program = "", ...args]: readonly string[]) =>
    promisify(execFile)(program, args, { env });
  const none = options.activation === "none" ? ["-an", "-Zn", "-Wn"] : [];
  for (let index = 0; index < volumeCount; index += 1) {
    await run(
      lvmCommand(options, "lvcreate", [...none, "--name", `pvc-${index}`, "--size", "1g", "--", name]),
    );
  }
  return { name, options, systemDir, env, run };
}

/** Starts a gateway in a separate process that serves the volume group. */
export async function openGateway(opened: AsyncDisposableStack, group: VolumeGroupUnderBench) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true, force: true }));
  const { name, systemDir, options } = group;
  const { activation = "auto" } = options;
  const gateway = await startGatewayProcess(join(directory, "hostplane.yaml"), {
    deviceClasses: [{ name: "bench", volumeGroup: name, default: true, spareGiB: 0 }],
    lvm: { activation, systemDir },
  });
  opened.defer(() => gateway.kill("SIGTERM"));
  return { ...gateway, directory };
}
