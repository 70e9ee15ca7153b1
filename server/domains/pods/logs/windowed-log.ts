import { appLog } from "./app-log.ts";
import { type LogMessage, newestMessage } from "./log-messages.ts";
import { closeLogs, earlierLines, type LogReading, selectedApps } from "./log-reading.ts";
import { mergedLines } from "./merge-lines.ts";
import { createNewestLines } from "./newest-lines.ts";

/** Yields one message with the existing lines. All of the window is read, but only as much is kept as fits. */
export async function* windowedLog(
  reading: LogReading,
  signal: AbortSignal,
): AsyncGenerator<LogMessage, void> {
  const { runtime, pod, appName, selection, limits } = reading;
  const { maxLines, ...options } = selection;
  const logs = selectedApps(pod, appName).map((app) =>
    appLog(
      {
        runtime,
        app,
        options,
        isOnly: appName !== "",
        maxLineBytes: limits.wholeBytes,
      },
      signal,
    ),
  );
  const newest = createNewestLines(maxLines, limits.wholeBytes);
  try {
    for await (const lines of mergedLines(logs.map((log) => () => earlierLines(log)))) {
      newest.add(lines);
    }
  } finally {
    closeLogs(logs);
  }
  signal.throwIfAborted();
  yield newestMessage(newest, maxLines, limits);
}
