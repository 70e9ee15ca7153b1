import { type FileHandle, open } from "node:fs/promises";
import { openSourceDevice, openTargetDevice } from "../../host/block-device.ts";
import { InfraError } from "../../host/infra-error.ts";
import { createLimiter } from "../../host/limiter.ts";
import { filePosition } from "../../host/process/file-position.ts";
import { markOf, stopMarked } from "../../host/process/marked-processes.ts";
import { run } from "../../host/process/run.ts";
import type { ToolEnd } from "../../host/process/tool-result.ts";
import { hostReasons } from "../../host/reasons.ts";
import { errorWithoutPattern } from "../errors.ts";
import { devicePathOf } from "../names.ts";
import type { LvmData, LvmDataStep, LvmDataStepOptions } from "./data-adapter.ts";
import { discardPartCommandOf, discardParts, readDiscardGranularity } from "./discard.ts";
import { type FileSystemTools, growCommandOf, growFileSystem, readFileSystem } from "./file-systems.ts";

export interface LvmDataOptions extends FileSystemTools {
  /** Called after each tool has exited, for logs and metrics. */
  readonly onToolEnd?: ((end: ToolEnd) => void) | undefined;
  /** Aborted when the adapter is closed. */
  readonly closing: AbortSignal;
}

/** Polling interval of the progress. */
const progressMs = 1_000;

/** Creates access to the content of this host's volumes. `idle` resolves when no step runs. */
export function createLvmData(options: LvmDataOptions): LvmData & { idle(): Promise<void> } {
  const { prefix, onToolEnd, closing } = options;
  // Operations limit how many run at once.
  const transfers = createLimiter({ what: "copies of volumes", maxRunning: 1_000, maxWaiting: 0 });

  async function runTool(
    argv: readonly string[],
    { signal, token }: LvmDataStepOptions,
    files: { readonly input?: FileHandle; readonly output?: FileHandle } = {},
  ): Promise<void> {
    // It may be stopped at any time, since its target is of no use to anything else.
    const result = await run(argv, {
      ...files,
      kind: "read",
      env: markOf(token),
      signal: AbortSignal.any([closing, signal]),
      onToolEnd,
    });
    if (result.exitCode !== 0) {
      throw errorWithoutPattern(result, result.stderr.trim());
    }
  }

  async function change(step: LvmDataStep, stepOptions: LvmDataStepOptions): Promise<void> {
    const output = await openTargetDevice(devicePathOf(step.volumeGroupName, step.name));
    try {
      await (isDiscard(step) ? discard : transfer)(step, stepOptions, output);
    } finally {
      await output.close();
    }
  }

  async function discard(
    { volumeGroupName, name, sizeBytes }: LvmDataStep,
    stepOptions: LvmDataStepOptions,
    output: FileHandle,
  ): Promise<void> {
    const device = devicePathOf(volumeGroupName, name);
    const totalBytes = Number(sizeBytes);
    for (const part of discardParts(totalBytes, await readDiscardGranularity(output))) {
      await runTool(discardPartCommandOf(device, part), stepOptions);
      stepOptions.onProgress({ doneBytes: part.offsetBytes + part.lengthBytes, totalBytes });
    }
  }

  async function transfer(
    step: LvmDataStep,
    stepOptions: LvmDataStepOptions,
    output: FileHandle,
  ): Promise<void> {
    const totalBytes = Number(step.sizeBytes);
    const input = await openInput(step);
    const poll = async () => {
      const doneBytes = await filePosition(output);
      stepOptions.onProgress({ doneBytes, totalBytes });
      return doneBytes;
    };
    const timer = setInterval(() => void poll().catch(() => {}), progressMs);
    try {
      await runTool(commandOf(step), stepOptions, { input, output });
      const doneBytes = await poll();
      if (doneBytes !== totalBytes) {
        const words = `${doneBytes} of ${totalBytes} bytes were written to ${step.volumeGroupName}/${step.name}`;
        throw new InfraError(hostReasons.TOOL_FAILED, words);
      }
    } finally {
      clearInterval(timer);
      await input.close();
    }
  }

  return {
    commandOf,
    run: (step, stepOptions) => transfers.run(() => change(step, stepOptions), stepOptions.signal),
    settle: stopMarked,
    fileSystemOn: (volume, signal) => readFileSystem(options, volume, signal),
    growCommandOf: (volume, fileSystem) => growCommandOf(prefix, volume, fileSystem),
    growFileSystem: (volume) => growFileSystem(options, volume),
    idle: () => transfers.idle(),
  };
}

/**
 * Returns the argv for a step, or one with the effect of the commands that discard the parts of a volume. dd gets the opened
 * devices as its input and output: their positions show its progress, and nothing else can open the target exclusively meanwhile.
 */
export function commandOf(step: LvmDataStep): readonly string[] {
  if (isDiscard(step)) {
    return ["blkdiscard", "--", devicePathOf(step.volumeGroupName, step.name)];
  }
  const direct = step.kind === "copy" ? ",direct" : "";
  return [
    "dd",
    "bs=4M",
    `count=${step.sizeBytes}`,
    `iflag=count_bytes,fullblock${direct}`,
    "oflag=direct",
    "conv=fsync",
    "status=none",
  ];
}

function isDiscard(step: LvmDataStep): boolean {
  return step.kind === "wipe" && step.isThin;
}

function openInput(step: LvmDataStep): Promise<FileHandle> {
  return step.kind === "copy"
    ? openSourceDevice(devicePathOf(step.volumeGroupName, step.sourceName), step.holdsSource)
    : open("/dev/zero");
}
