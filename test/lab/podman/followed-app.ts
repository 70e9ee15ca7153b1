import { setTimeout as sleep } from "node:timers/promises";
import { type Client, ConnectError } from "@connectrpc/connect";
import type { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";

/** The lines that a client received from an app's log, across restarts of gateways. */
export interface FollowedApp {
  readonly lines: readonly string[];
  /** Number of times it had to resume. */
  readonly resumed: number;
}

/**
 * Follows an app's log until it prints `done`. After a break it resumes with `since_time`, requests the second of its last line
 * again, and drops the lines it already has.
 * @param api returns the API of the running gateway
 */
export async function followApp(
  api: () => Client<typeof PublicAPI>,
  podId: string,
  appName: string,
): Promise<FollowedApp> {
  const lines: string[] = [];
  let resumed = 0;
  for (;;) {
    try {
      const second = secondOf(lines.at(-1));
      let known = lines.filter((line) => secondOf(line) === second).length;
      const sinceTime = second === undefined ? 0n : BigInt(Date.parse(second) / 1_000);
      for await (const message of api().getLogs({ podId, appName, follow: true, sinceTime })) {
        const found = message.lines.slice(Math.min(known, message.lines.length));
        known -= message.lines.length - found.length;
        lines.push(...found);
        if (lines.at(-1)?.endsWith("Z done") === true) {
          return { lines, resumed };
        }
      }
      throw new Error(`the log of ${appName} ended before its program`);
    } catch (error) {
      if (!(error instanceof ConnectError)) {
        throw error;
      }
      resumed += 1;
      await sleep(100);
    }
  }
}

function secondOf(line: string | undefined): string | undefined {
  return line?.slice(0, line.indexOf(" "));
}
