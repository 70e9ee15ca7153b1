import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../adapters/podman/reasons.ts";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import type { GetLogsRequest } from "../../../../gen/v1alpha/api_pb.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { findPod } from "../find-pod.ts";
import { followedLog } from "./followed-log.ts";
import { type LogMessage, messageLimitsOf } from "./log-messages.ts";
import { selectedApps } from "./log-reading.ts";
import { parseLogRequest } from "./log-request.ts";
import { windowedLog } from "./windowed-log.ts";

/** The logs of a pod's apps. */
export interface PodLogs {
  /**
   * Yields one message. With `follow`, yields the existing lines and then a message for each arrival, at the reader's pace,
   * until the pod is gone or `until_time` is reached; after each silence it yields an empty message as a heartbeat.
   * @throws InfraError INVALID_FIELD, POD_NOT_FOUND, CONTAINER_NOT_FOUND, LOGS_UNAVAILABLE, and as `PodRuntime.read`
   */
  read(
    request: GetLogsRequest,
    call: Pick<Call, "signal" | "noteResource">,
  ): AsyncGenerator<LogMessage, void>;
}

export interface PodLogsOptions {
  readonly runtime: Pick<PodRuntime, "read" | "subscribe" | "logs">;
  /** Message size limit of the listeners, in bytes. */
  readonly maxMessageBytes: number;
  /** 15 s by default. */
  readonly silenceMs?: number;
}

/** @param options `silenceMs`: time without lines after which a followed log sends a heartbeat */
export function createPodLogs({ runtime, maxMessageBytes, silenceMs = 15_000 }: PodLogsOptions): PodLogs {
  const limits = messageLimitsOf(maxMessageBytes);
  return {
    async *read(request, call) {
      const selection = parseLogRequest(request);
      const { pods, unreadable } = (await runtime.read(call.signal)).value;
      const pod = findPod(pods, request.podId, { field: "pod_id", prefix: true, name: false, unreadable });
      call.noteResource(`pods/${pod.uuid}`);
      const { appName } = request;
      assertApp(pod, appName);
      const leaving = new AbortController();
      const reading = { runtime, pod, appName, selection, limits };
      const signal = AbortSignal.any([call.signal, leaving.signal]);
      const messages = request.follow ? followedLog(reading, signal) : windowedLog(reading, signal);
      try {
        yield* request.follow ? withSilences(messages, silenceMs) : messages;
      } finally {
        // Must come first, since the generator may be waiting for the next arrival.
        leaving.abort();
        await messages.return();
      }
    },
  };
}

/** Adds an empty message after each silence. The caller must close `messages`. */
async function* withSilences(
  messages: AsyncIterator<LogMessage, void>,
  silenceMs: number,
): AsyncGenerator<LogMessage, void> {
  for (;;) {
    const next = messages.next();
    while (!(await isSettledWithin(next, silenceMs))) {
      yield { lines: [] };
    }
    const { done, value } = await next;
    if (done === true) {
      return;
    }
    yield value;
  }
}

/** @throws InfraError CONTAINER_NOT_FOUND */
function assertApp(pod: RuntimePod, appName: string): void {
  if (appName !== "" && selectedApps(pod, appName).length === 0) {
    const names = selectedApps(pod, "").map(({ name }) => name);
    const has = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
    throw new InfraError(
      podmanReasons.CONTAINER_NOT_FOUND,
      `pod ${pod.name} has no app ${appName} (${has})`,
      {
        resource: `pods/${pod.uuid}/containers/${appName}`,
      },
    );
  }
}
