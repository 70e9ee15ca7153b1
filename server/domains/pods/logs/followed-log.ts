import { callAt } from "../../../../adapters/host/call-at.ts";
import type { PodContainer, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import { watchState } from "../../../rpc/watch-state.ts";
import { appLog, type LogBatch } from "./app-log.ts";
import { createGathering } from "./gathering.ts";
import type { LogLine } from "./log-line.ts";
import { createMessagePacker, type LogMessage, newestMessage } from "./log-messages.ts";
import { closeLogs, earlierLines, type LogReading, wantedApps } from "./log-reading.ts";
import { mergedLines, mergeLines } from "./merge-lines.ts";
import { createNewestLines } from "./newest-lines.ts";

type Log = AsyncGenerator<LogBatch, void>;
/** What comes: lines of an app, or how the pod is; undefined when it is no more. */
type Come = { readonly lines: readonly LogLine[] } | { readonly pod: RuntimePod | undefined };

/**
 * What is there, and what comes, also of apps that are started anew or made later, until the pod is gone or `untilNs` has come. The
 * signal must be aborted when nobody reads on.
 */
export async function* followedLog(
  reading: LogReading,
  signal: AbortSignal,
): AsyncGenerator<LogMessage, void> {
  const logs = new Map<string, Log>();
  const ended = new Set<string>();
  const begin = begunLogs(reading, logs, ended, signal);
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
  const { untilNs } = reading.wanted;
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

/** Begins the logs of a pod's apps that have not begun, and notes which programs have ended. Gives those it has begun. */
function begunLogs(
  { runtime, appName, wanted, limits }: LogReading,
  logs: Map<string, Log>,
  ended: Set<string>,
  signal: AbortSignal,
): (pod: RuntimePod) => readonly Log[] {
  const { maxLines: _, ...window } = wanted;

  function begin(app: PodContainer): Log {
    const log = appLog(
      {
        runtime,
        app,
        options: { ...window, follow: true },
        // One that comes later, in the place of another of its name, ends nothing.
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
    const apps = wantedApps(pod, appName);
    ended.clear();
    for (const { id, state } of apps) {
      if (state === "exited") {
        ended.add(id);
      }
    }
    return apps.filter(({ id }) => !logs.has(id)).map(begin);
  };
}

/** What was printed before: of a number of lines one message, of all as many as it takes; one at least. */
async function* earlierMessages(
  { wanted: { maxLines }, limits }: LogReading,
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

/** How the pod is, each time that it may have changed; nothing while nobody can tell. */
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
