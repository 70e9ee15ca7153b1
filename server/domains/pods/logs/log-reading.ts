import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { PodContainer, RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import type { LogBatch } from "./app-log.ts";
import type { LogLine } from "./log-line.ts";
import type { MessageLimits } from "./log-messages.ts";
import type { LineSelection } from "./log-request.ts";

/** Parameters for reading a pod's logs. */
export interface LogReading {
  readonly runtime: Pick<PodRuntime, "read" | "subscribe" | "logs">;
  readonly pod: RuntimePod;
  /** Empty for all. */
  readonly appName: string;
  readonly selection: LineSelection;
  readonly limits: MessageLimits;
}

/** Returns the apps whose logs are requested. The infra container prints nothing. */
export function selectedApps(pod: RuntimePod, appName: string): readonly PodContainer[] {
  return pod.containers.filter(({ name, isInfra }) => !isInfra && (appName === "" || name === appName));
}

/** Returns the next earlier lines; undefined after the last. */
export async function earlierLines(
  log: AsyncIterator<LogBatch, void>,
): Promise<readonly LogLine[] | undefined> {
  const { done, value } = await log.next();
  return done === true || value === "caughtUp" ? undefined : value;
}

/** Closes logs that are no longer read. One with a pending read closes when its signal is aborted. */
export function closeLogs(logs: Iterable<AsyncGenerator<LogBatch, void>>): void {
  for (const log of logs) {
    log.return().catch(() => {});
  }
}
