import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../host/back-off.ts";
import { callAt } from "../host/call-at.ts";
import { InfraError } from "../host/infra-error.ts";
import type { LogOptions, LogPiece } from "./adapter.ts";
import type { PodmanClient } from "./client.ts";
import { openLogFile, readLogFile } from "./log-file.ts";
import { createLogPosition } from "./log-position.ts";
import { parseContainer } from "./parse-container.ts";
import { createLogDecoder } from "./parse-log.ts";
import { secondsFromNs } from "./parse-time.ts";

export interface LogSource {
  readonly client: PodmanClient;
  /** Calls back when something has happened to the container, and when Podman is back. Returns the function that ends it. */
  readonly onChange: (containerId: string, listener: () => void) => () => void;
}

const retry = { firstMs: 100, longestMs: 2_000 };
/** How often a container that has ended is looked at, should no event tell of it. */
const lookMs = 30_000;
/** Until what was printed is in the log and has come over the socket. */
const lagMs = 1_000;
const nsPerMs = 1_000_000n;

/**
 * What a container printed, of the file in which Podman has it recorded. Podman's service tells a record that is just being written
 * as a whole one, and leaves out what was added meanwhile (4.3.1; its library of `tail`). So it is asked only where the gateway
 * cannot read that file: first for what the container had printed before the call, by a connection that does not follow. One that follows
 * ends with the container's run, some 0.4 s later, or with the service: the next goes on where it ended. At `untilNs` what is not
 * read yet is read once more without following.
 * @throws InfraError as `PodRuntime.logs`
 */
export async function* readLogs(
  { client, onChange }: LogSource,
  containerId: string,
  options: LogOptions,
  leaving: AbortSignal,
): AsyncGenerator<readonly LogPiece[], void> {
  const { untilNs } = options;
  const beganMs = Date.now();
  const leftMs = untilNs === undefined ? undefined : Number(untilNs / nsPerMs) - beganMs;
  const follow = options.follow === true && (leftMs === undefined || leftMs > 0);
  const ending = new AbortController();
  // A connection with `follow` and `until` was never closed by Podman 4.3.1.
  const stopWaiting =
    follow && leftMs !== undefined
      ? callAt(beganMs + leftMs + lagMs, () => ending.abort(), { ref: false })
      : undefined;
  const signal = AbortSignal.any([leaving, ending.signal]);
  const position = createLogPosition(options.sinceNs);
  let isKnown = false;
  let logPath: string | undefined;
  let isPast = true;
  let failures = 0;

  function wantedOf(pieces: readonly LogPiece[]): readonly LogPiece[] {
    const found = position.newOf(pieces);
    return untilNs === undefined ? found : found.filter(({ timeNs }) => timeNs < untilNs);
  }

  /** All of the log that is wanted and was not read yet; with `isFollowing` an empty array when what is there has been told. */
  async function* more(isFollowing: boolean, lastMs: number, given: AbortSignal) {
    const file = logPath === undefined ? undefined : await openLogFile(logPath);
    if (file === undefined || logPath === undefined) {
      yield* connection(isFollowing && !isPast, lastMs, given);
      return;
    }
    const { streams } = options;
    const sinceNs = position.sinceNs() ?? 0n;
    for await (const pieces of readLogFile(file, logPath, { follow: isFollowing }, given)) {
      const wanted = wantedOf(
        pieces.filter(
          ({ timeNs, stream }) => timeNs >= sinceNs && (streams === undefined || streams.includes(stream)),
        ),
      );
      if (wanted.length > 0 || pieces.length === 0) {
        yield wanted;
      }
    }
  }

  async function* connection(
    isFollowing: boolean,
    lastMs: number,
    given: AbortSignal,
  ): AsyncGenerator<readonly LogPiece[], void> {
    const path = pathOf(containerId, options, isFollowing, position.sinceNs());
    const lastNs = BigInt(lastMs) * nsPerMs;
    const decode = createLogDecoder();
    for await (const chunk of await client.stream("GET", path, given)) {
      const pieces = decode(chunk);
      const wanted = wantedOf(pieces);
      if (wanted.length > 0) {
        yield wanted;
      }
      // Podman reads to the log's end, to which it never comes when the container prints faster.
      if (!isFollowing && pieces.some(({ timeNs }) => timeNs > lastNs)) {
        return;
      }
    }
  }

  /** What `untilNs` has come over. */
  async function* rest(): AsyncGenerator<readonly LogPiece[], void> {
    try {
      yield* more(false, beganMs + (leftMs ?? 0), leaving);
    } catch (error) {
      if (!leaving.aborted && !isReason(error, "CONTAINER_NOT_FOUND", "PODMAN_UNAVAILABLE")) {
        throw error;
      }
    }
  }

  /** Waits until it is worth opening the log again. */
  async function untilMore(hasNew: boolean): Promise<void> {
    const changed = Promise.withResolvers<void>();
    const unsubscribe = onChange(containerId, changed.resolve);
    try {
      const { state } = (await inspected(client, containerId, signal)).container;
      // What was printed last may have come after the connection's end. Of a container that does not run Podman closes it at once.
      const isWorthIt = hasNew || state === "running" || state === "paused" || state === "stopping";
      await Promise.race([pause(isWorthIt ? retry.firstMs : lookMs, signal), changed.promise]);
    } finally {
      unsubscribe();
    }
  }

  try {
    for (;;) {
      try {
        if (!isKnown) {
          // A connection that follows is silent until the first line.
          ({ logPath } = await inspected(client, containerId, signal));
          isKnown = true;
        }
        let hasNew = false;
        for await (const pieces of more(follow, beganMs, signal)) {
          failures = 0;
          hasNew ||= pieces.length > 0;
          if (pieces.length > 0 || isPast) {
            isPast &&= pieces.length > 0;
            yield pieces;
          }
        }
        if (!follow) {
          return;
        }
        if (isPast) {
          isPast = false;
          yield [];
        } else {
          await untilMore(hasNew);
        }
        failures = 0;
      } catch (error) {
        if (signal.aborted || (follow && isKnown && isReason(error, "CONTAINER_NOT_FOUND"))) {
          break;
        }
        if (!follow || !isReason(error, "PODMAN_UNAVAILABLE")) {
          throw error;
        }
        failures += 1;
        await pause(backOffMs(failures, retry), signal);
      }
    }
    if (ending.signal.aborted && !leaving.aborted) {
      yield* rest();
    }
  } catch (error) {
    if (!signal.aborted) {
      throw error;
    }
  } finally {
    stopWaiting?.();
    ending.abort();
  }
}

function pathOf(
  containerId: string,
  { streams = ["stdout", "stderr"] }: LogOptions,
  follow: boolean,
  sinceNs: bigint | undefined,
): string {
  const query = new URLSearchParams({
    // Without these there is an error, `you must choose at least one stream`. No `tail`: with it the service of 4.3.1 keeps a file
    // open for each call, and cuts long lines. No `until`: Podman would still read to the log's end, and not tell how far it is.
    stdout: String(streams.includes("stdout")),
    stderr: String(streams.includes("stderr")),
    timestamps: "true",
    follow: String(follow),
  });
  if (sinceNs !== undefined) {
    query.set("since", secondsFromNs(sinceNs));
  }
  return `containers/${containerId}/logs?${query}`;
}

async function inspected(client: PodmanClient, containerId: string, signal: AbortSignal) {
  return parseContainer(await client.text(`containers/${containerId}/json`, signal));
}

function isReason(error: unknown, ...reasons: readonly string[]): boolean {
  return error instanceof InfraError && reasons.includes(error.reason);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
