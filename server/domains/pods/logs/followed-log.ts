import { callAt } from "../../../../adapters/host/call-at.ts";
import type { PodContainer, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { watchState } from "../../../rpc/streams/watch-state.ts";
import { appLog, type LogBatch } from "./app-log.ts";
import { createGathering } from "./gathering.ts";
import type { LogLine } from "./log-line.ts";
import { createMessagePacker, type LogMessage, newestMessage } from "./log-messages.ts";
import { closeLogs, earlierLines, type LogReading, selectedApps } from "./log-reading.ts";
import { mergedLines, mergeLines } from "./merge-lines.ts";
import { createNewestLines } from "./newest-lines.ts";

type Log = AsyncGenerator<LogBatch, void>;
/** An arrival: lines of an app, or the pod's new state; undefined when the pod is gone. */
type Come = { readonly lines: readonly LogLine[] } | { readonly pod: RuntimePod | undefined };

/**
 * Yields existing lines and then new ones, also from apps that are restarted or created later, until the pod is gone or
 * `untilNs` is reached. The signal must be aborted when reading stops.
 */
export async function* followedLog(
  reading: LogReading,
  signal: AbortSignal,
): AsyncGenerator<LogMessage, void> {
  const logs = new Map<string, Log>();
  const ended = new Set<string>();
  const begin = createLogOpener(reading, logs, ended, signal);
  begin(reading.pod);
  try {
    yield* earlierMessages(reading, [...logs.values()]);
    yield* laterMessages(reading, logs, begin, signal);
  } finally {
    closeLogs(logs.values());
  }
}

async function* laterMessages(
  reading: LogReading,
  logs: ReadonlyMap<string, Log>,
  begin: (pod: RuntimePod) => readonly Log[],
  signal: AbortSignal,
): AsyncGenerator<LogMessage, void> {
  const gathering = createGathering<Come>();
  let open = 0;
  let isOver = false;

  async function* linesOf(log: Log): AsyncGenerator<Come, void> {
    for await (const batch of log) {
      if (batch !== "caughtUp") {
        yield { lines: batch };
      }
    }
    open -= 1;
  }

  function follow(found: readonly Log[]): void {
    for (const log of found) {
      open += 1;
      gathering.add(linesOf(log));
    }
  }

  function end(): void {
    isOver = true;
    gathering.wake();
  }

  follow([...logs.values()]);
  gathering.add(podStates(reading, signal));
  const { untilNs } = reading.selection;
  const stopWaiting =
    untilNs === undefined ? undefined : callAt(Number(untilNs / 1_000_000n), end, { ref: true });
  const packer = createMessagePacker(reading.limits);
  try {
    while (open > 0 || !isOver) {
      const come = await gathering.take();
      signal.throwIfAborted();
      yield* packer.add(mergeLines(come.flatMap((one) => ("lines" in one ? [one.lines] : []))));
      const rest = packer.rest();
      if (rest !== undefined) {
        yield rest;
      }
      for (const one of come) {
        if ("lines" in one) {
          continue;
        }
        if (one.pod === undefined) {
          isOver = true;
        } else if (!isOver) {
          follow(begin(one.pod));
        }
      }
    }
  } finally {
    gathering.close();
    stopWaiting?.();
  }
}

/**
 * Returns a function that opens the logs of a pod's apps that are not open yet, records which programs have exited, and
 * returns the new logs.
 */
function createLogOpener(
  { runtime, appName, selection, limits }: LogReading,
  logs: Map<string, Log>,
  ended: Set<string>,
  signal: AbortSignal,
): (pod: RuntimePod) => readonly Log[] {
  const { maxLines: _, ...window } = selection;

  function begin(app: PodContainer): Log {
    const log = appLog(
      {
        runtime,
        app,
        options: { ...window, follow: true },
        // A later app, which replaces another of the same name, must not end the stream.
        isOnly: appName !== "" && logs.size === 0,
        maxLineBytes: limits.wholeBytes,
        hasEnded: () => ended.has(app.id),
      },
      signal,
    );
    logs.set(app.id, log);
    return log;
  }

  return (pod) => {
    const apps = selectedApps(pod, appName);
    ended.clear();
    for (const { id, state } of apps) {
      if (state === "exited") {
        ended.add(id);
      }
    }
    return apps.filter(({ id }) => !logs.has(id)).map(begin);
  };
}

/** Yields the earlier lines: a limited number in one message, all lines in as many as needed. At least one message. */
async function* earlierMessages(
  { selection: { maxLines }, limits }: LogReading,
  logs: readonly Log[],
): AsyncGenerator<LogMessage, void> {
  const earlier = mergedLines(logs.map((log) => () => earlierLines(log)));
  if (maxLines === Number.POSITIVE_INFINITY) {
    const packer = createMessagePacker(limits);
    for await (const lines of earlier) {
      yield* packer.add(lines);
    }
    yield packer.rest() ?? { lines: [] };
    return;
  }
  const newest = createNewestLines(maxLines, limits.wholeBytes);
  for await (const lines of earlier) {
    newest.add(lines);
  }
  yield newestMessage(newest, maxLines, limits);
}

/** Yields the pod's state whenever it may have changed; nothing while it is unknown. */
async function* podStates({ runtime, pod }: LogReading, signal: AbortSignal): AsyncGenerator<Come, void> {
  const read = () => runtime.read(signal).catch(() => undefined);
  for await (const snapshot of watchState(runtime.subscribe, read, signal)) {
    const state = snapshot?.value;
    const found = state?.pods.find(({ id }) => id === pod.id);
    if (found !== undefined) {
      yield { pod: found };
    } else if (state !== undefined && !state.unreadable.some(({ podId }) => podId === pod.id)) {
      yield { pod: undefined };
    }
  }
}
