import { InfraError } from "../host/infra-error.ts";
import type { ToolResult } from "../host/process/tool-result.ts";
import type { LvmCommandOptions } from "./commands.ts";
import type { LvmDeviceStep, LvmDeviceStepOptions } from "./device-adapter.ts";
import { deviceCommandOf, isMoveInactive, parseMovedPercent, resumeMoveCommand } from "./device-commands.ts";
import { lvmReasons } from "./reasons.ts";

/** What the command of a move needs beside its argv. */
export interface MoveOptions {
  /** Receives its output. */
  readonly output: (chunk: Buffer) => void;
  /** Stops the command. */
  readonly stop: AbortSignal;
}

export interface DeviceStepRunnerOptions {
  readonly options: LvmCommandOptions;
  /** Runs a changing command to its end. */
  readonly mutate: (argv: readonly string[], options?: MoveOptions) => Promise<ToolResult>;
  /** Aborted when the adapter is closed. */
  readonly closing: AbortSignal;
}

/** Maximum number of restarts of a move whose process was killed. */
const maxKills = 5;

/** Creates a function that runs the commands of a step on devices. The devices are already checked. */
export function createDeviceStepRunner({ options, mutate, closing }: DeviceStepRunnerOptions) {
  /**
   * Aborts a move. LVM aborts only an active one, and a move is inactive after a reboot, or if pvmove was killed before it
   * activated the move. Such a move is resumed first.
   */
  async function abortMove(step: Extract<LvmDeviceStep, { kind: "abortMove" }>): Promise<ToolResult> {
    const argv = deviceCommandOf(options, step);
    const result = await mutate(argv);
    if (!isMoveInactive(result) || options.activation === "none") {
      return result;
    }
    await mutate(resumeMoveCommand(options, step.path));
    return mutate(argv);
  }

  async function moveAway(
    step: LvmDeviceStep,
    { signal, onPercent }: LvmDeviceStepOptions,
  ): Promise<ToolResult> {
    if (options.activation === "none") {
      // pvmove records that it has begun, prints `Interrupted: No longer active.` and exits with 0.
      throw new InfraError(lvmReasons.POOL_CANNOT_SHRINK, "data cannot be moved without device-mapper");
    }
    let printed = "";
    const output = (chunk: Buffer) => {
      printed = (printed + chunk.toString()).slice(-1000);
      const percent = parseMovedPercent(printed);
      if (percent !== undefined) {
        onPercent?.(percent);
      }
    };
    const stop = signal === undefined ? closing : AbortSignal.any([closing, signal]);
    for (let kills = 0; ; kills += 1) {
      stop.throwIfAborted();
      const result = await mutate(deviceCommandOf(options, step), { output, stop });
      stop.throwIfAborted();
      // A pvmove that was killed leaves the move where it was, and the next one resumes it.
      if (result.signal === null || kills === maxKills) {
        return { ...result, stdout: printed };
      }
    }
  }

  return (step: LvmDeviceStep, stepOptions: LvmDeviceStepOptions): Promise<ToolResult> => {
    switch (step.kind) {
      case "moveAway":
        return moveAway(step, stepOptions);
      case "abortMove":
        return abortMove(step);
      default:
        return mutate(deviceCommandOf(options, step));
    }
  };
}
