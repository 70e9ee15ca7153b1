import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { stringify } from "yaml";
import { InfraError } from "../host/infra-error.ts";
import { run } from "../host/process/run.ts";
import type { ToolEnd } from "../host/process/tool-result.ts";
import { hostReasons } from "../host/reasons.ts";
import { seedDirectoryPrefix } from "./stale-seeds.ts";

export interface SeedOptions {
  /** The program that creates ISO images, with mkisofs options: `["xorrisofs"]` or `["genisoimage"]`. */
  readonly seedTool: readonly string[];
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
}

const timeoutMs = 30_000;

/**
 * Creates an ISO image from which cloud-init reads host name and instance id: NoCloud's two files on a medium labelled
 * `cidata` (https://docs.cloud-init.io, "NoCloud"). A guest that finds a new instance id considers itself a new
 * instance.
 * @throws InfraError TOOL_MISSING, TOOL_FAILED, TOOL_TIMEOUT, and the signal's reason
 */
export async function makeSeed(
  options: SeedOptions,
  { hostname, instanceId }: { readonly hostname: string; readonly instanceId: string },
  signal?: AbortSignal,
): Promise<Uint8Array> {
  // Accessible to this user only.
  const directory = await mkdtemp(join(tmpdir(), seedDirectoryPrefix(process.pid)));
  try {
    const image = join(directory, "seed.iso");
    const metaData = join(directory, "meta-data");
    const userData = join(directory, "user-data");
    await writeFile(metaData, stringify({ "instance-id": instanceId, "local-hostname": hostname }));
    await writeFile(userData, `#cloud-config\n${stringify({ hostname, preserve_hostname: false })}`);
    const names = ["-output", image, "-volid", "cidata", "-joliet", "-rock", "-quiet"];
    const argv = [...options.seedTool, ...names, userData, metaData];
    const tool = { program: basename(options.seedTool.at(-1) ?? ""), subcommand: "" };
    const { onToolEnd } = options;
    const { exitCode, stderr } = await run(argv, { kind: "read", tool, timeoutMs, signal, onToolEnd });
    if (exitCode !== 0) {
      const words = stderr.trim().replaceAll(directory, "");
      throw new InfraError(
        hostReasons.TOOL_FAILED,
        `${options.seedTool.join(" ")} failed with ${exitCode}: ${words}`,
      );
    }
    return await readFile(image);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
