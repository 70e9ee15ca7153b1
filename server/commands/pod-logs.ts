import { once } from "node:events";
import type { ExitCode } from "../cli/table/output.ts";
import type { AdminClient } from "../cli/target/admin-client.ts";
import { whileRead } from "../cli/while-read.ts";
import { findPodByCall } from "./pod.ts";
import { type AdminOptions, type CommandContext, runAdminCommand } from "./run-admin-command.ts";

export interface PodLogsOptions extends AdminOptions {
  readonly container?: string;
  readonly follow?: boolean;
  readonly lines?: number;
  readonly since?: Date;
  readonly until?: Date;
}

/**
 * Prints the logs of containers, no faster than the output is read. With `follow` it continues until the pod is gone, the
 * gateway stops or the output is closed.
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

/** The API has whole seconds, so the time is rounded down to include all of its second. */
function secondsOf(time: Date | undefined): bigint {
  return time === undefined ? 0n : BigInt(Math.floor(time.getTime() / 1_000));
}

/** A program's output must not control the terminal. Tabs are harmless. */
function withoutControl(line: string): string {
  return line.replaceAll(/[^\P{Cc}\t]/gu, "\ufffd");
}
