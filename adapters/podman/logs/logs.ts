import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../../host/back-off.ts";
import { callAt } from "../../host/call-at.ts";
import { hasReason } from "../../host/infra-error.ts";
import type { LogOptions, LogPiece } from "../adapter.ts";
import type { PodmanClient } from "../client.ts";
import { parseContainer } from "../parse/parse-container.ts";
import { createLogDecoder } from "../parse/parse-log.ts";
import { secondsFromNs } from "../parse/parse-time.ts";
import { podmanReasons } from "../reasons.ts";
import { openLogFile, readLogFile } from "./log-file.ts";
import { createLogPosition } from "./log-position.ts";

export interface LogSource {
  readonly client: PodmanClient;
  /**
   * Calls back when something happens to the container, and when Podman is reachable again. Returns a function that
   * unsubscribes.
   */
  readonly onChange: (containerId: string, listener: () => void) => () => void;
}

const retry = { firstMs: 100, longestMs: 2_000 };
/** Polling interval for an exited container, in case an event is missed. */
const pollMs = 30_000;
/** Time for output to reach the log and to arrive over the socket. */
const lagMs = 1_000;
const nsPerMs = 1_000_000n;

/**
 * Yields what a container printed, from the file in which Podman records it. Podman's service delivers a partially
 * written record as a complete one, and drops the rest of it (4.3.1, in its `tail` library). So the service is used
 * only where the gateway cannot read that file: first, for past output, with a connection that does not follow. A
 * following connection ends some 0.4 s after the container's run ends, or with the service; the next one continues
 * where it ended. At `untilNs`, unread output is read once more without following.
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
  // Podman 4.3.1 never closes a connection with both `follow` and `until`.
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

  function unreadOf(pieces: readonly LogPiece[]): readonly LogPiece[] {
    const found = position.newOf(pieces);
    return untilNs === undefined ? found : found.filter(({ timeNs }) => timeNs < untilNs);
  }

  /**
   * Yields the requested part of the log that is still unread; with `isFollowing`, an empty array after past output.
   */
  async function* more(isFollowing: boolean, lastMs: number, given: AbortSignal) {
    const file = logPath === undefined ? undefined : await openLogFile(logPath);
    if (file === undefined || logPath === undefined) {
      yield* connection(isFollowing && !isPast, lastMs, given);
      return;
    }
    const { streams } = options;
    const sinceNs = position.sinceNs() ?? 0n;
    for await (const pieces of readLogFile(file, logPath, { follow: isFollowing }, given)) {
      const unread = unreadOf(
        pieces.filter(
          ({ timeNs, stream }) => timeNs >= sinceNs && (streams === undefined || streams.includes(stream)),
        ),
      );
      if (unread.length > 0 || pieces.length === 0) {
        yield unread;
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
      const unread = unreadOf(pieces);
      if (unread.length > 0) {
        yield unread;
      }
      // Podman reads to the end of the log, which it never reaches if the container prints faster.
      if (!isFollowing && pieces.some(({ timeNs }) => timeNs > lastNs)) {
        return;
      }
    }
  }

  /** Yields the unread output up to `untilNs`. */
  async function* rest(): AsyncGenerator<readonly LogPiece[], void> {
    try {
      yield* more(false, beganMs + (leftMs ?? 0), leaving);
    } catch (error) {
      if (
        !leaving.aborted &&
        !hasReason(error, podmanReasons.CONTAINER_NOT_FOUND, podmanReasons.PODMAN_UNAVAILABLE)
      ) {
        throw error;
      }
    }
  }

  /** Waits until the log should be opened again. */
  async function untilMore(hasNew: boolean): Promise<void> {
    const changed = Promise.withResolvers<void>();
    const unsubscribe = onChange(containerId, changed.resolve);
    try {
      const { state } = (await inspected(client, containerId, signal)).container;
      // The last output may have arrived after the connection ended. For a stopped container, Podman closes a
      // connection at once.
      const isWorthIt = hasNew || state === "running" || state === "paused" || state === "stopping";
      await Promise.race([pause(isWorthIt ? retry.firstMs : pollMs, signal), changed.promise]);
    } finally {
      unsubscribe();
    }
  }

  /** Yields the output until the log ends; with `follow`, until there will be no more. */
  async function* all(): AsyncGenerator<readonly LogPiece[], void> {
    for (;;) {
      try {
        if (!isKnown) {
          // A following connection is silent until the first line.
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
        if (signal.aborted || (follow && isKnown && hasReason(error, podmanReasons.CONTAINER_NOT_FOUND))) {
          return;
        }
        if (!follow || !hasReason(error, podmanReasons.PODMAN_UNAVAILABLE)) {
          throw error;
        }
        failures += 1;
        await pause(backOffMs(failures, retry), signal);
      }
    }
  }

  try {
    yield* all();
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
    // Without streams, Podman returns the error `you must choose at least one stream`. No `tail`: with it, the service
    // of 4.3.1 leaks an open file with each call, and cuts long lines. No `until`: Podman would still read to the end
    // of the log, without reporting its progress.
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
