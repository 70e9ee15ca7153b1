import { once } from "node:events";
import type { AdminClient } from "./admin-client.ts";
import type { ExitCode } from "./output.ts";
import { findPodByCall } from "./pod.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";
import { whileRead } from "./while-read.ts";

export interface PodLogsOptions extends AdminOptions {
  readonly container?: string;
  readonly follow?: boolean;
  readonly lines?: number;
  readonly since?: Date;
  readonly until?: Date;
}

/**
 * Prints what containers have printed, no faster than it is read; with `follow` until the pod is gone, the gateway stops or
 * nobody reads it any more.
 */
export function printPodLogs(
  wanted: string,
  options: PodLogsOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const { container = "", follow = false, lines = 0, since, until } = options;
  const work = async (client: AdminClient) => {
    const { id } = await findPodByCall(client, wanted);
    const request = {
      podId: id,
      appName: container,
      follow,
      lines,
      sinceTime: secondsOf(since),
      untilTime: secondsOf(until),
    };
    await whileRead(async (signal) => {
      for await (const message of client.publicApi.getLogs(request, { signal })) {
        for (const line of message.lines) {
          context.output.out(process.stdout.isTTY ? withoutControl(line) : line);
        }
        if (process.stdout.writableNeedDrain) {
          await once(process.stdout, "drain", { signal });
        }
      }
    });
  };
  return runAdminCommand(options, context, work, { mustRun: true });
}

/** The contract has whole seconds: of the one that the time is in all is told. */
function secondsOf(time: Date | undefined): bigint {
  return time === undefined ? 0n : BigInt(Math.floor(time.getTime() / 1_000));
}

/** What a program prints is not to command the terminal; a tab does no harm. */
function withoutControl(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]/gu, "\ufffd");
}
