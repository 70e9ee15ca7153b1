import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import type { PodRuntime } from "../../../../adapters/podman/adapter.ts";
import type { RuntimePod } from "../../../../adapters/podman/runtime-state.ts";
import type { GetLogsRequest } from "../../../../gen/v1alpha/api_pb.ts";
import type { Call } from "../../../rpc/call.ts";
import { findPod } from "../find-pod.ts";
import { followedLog } from "./followed-log.ts";
import { type LogMessage, messageLimitsOf } from "./log-messages.ts";
import { wantedApps } from "./log-reading.ts";
import { parseLogRequest } from "./log-request.ts";
import { windowedLog } from "./windowed-log.ts";

/** What the apps of a pod print. */
export interface PodLogs {
  /**
   * One message, or with `follow` one of what is there and then one each time that something comes, at the reader's pace, until
   * the pod is gone or `until_time` has come; with `follow` an empty one after each silence, by which a client knows that the
   * stream lives.
   * @throws InfraError INVALID_FIELD, POD_NOT_FOUND, CONTAINER_NOT_FOUND, LOGS_UNAVAILABLE, and as `PodRuntime.read`
   */
  read(
    request: GetLogsRequest,
    call: Pick<Call, "signal" | "noteResource">,
  ): AsyncGenerator<LogMessage, void>;
}

export interface PodLogsOptions {
  readonly runtime: Pick<PodRuntime, "read" | "subscribe" | "logs">;
  /** The limit of the listeners. */
  readonly maxMessageBytes: number;
  /** 15 s unless told. */
  readonly silenceMs?: number;
}

export function createPodLogs({ runtime, maxMessageBytes, silenceMs = 15_000 }: PodLogsOptions): PodLogs {
  const limits = messageLimitsOf(maxMessageBytes);
  return {
    async *read(request, call) {
      const wanted = parseLogRequest(request);
      const { pods, unreadable } = (await runtime.read(call.signal)).value;
      const pod = findPod(pods, request.podId, { field: "pod_id", prefix: true, name: false, unreadable });
      call.noteResource(`pods/${pod.uuid}`);
      const { appName } = request;
      assertApp(pod, appName);
      const leaving = new AbortController();
      const reading = { runtime, pod, appName, wanted, limits };
      const signal = AbortSignal.any([call.signal, leaving.signal]);
      const messages = request.follow ? followedLog(reading, signal) : windowedLog(reading, signal);
      try {
        yield* request.follow ? withSilences(messages, silenceMs) : messages;
      } finally {
        // First: it may be waiting for what comes next.
        leaving.abort();
        await messages.return();
      }
    },
  };
}

/** The same with an empty message after each silence. Closing `messages` is the caller's. */
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
  if (appName !== "" && wantedApps(pod, appName).length === 0) {
    const names = wantedApps(pod, "").map(({ name }) => name);
    const has = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
    throw new InfraError("CONTAINER_NOT_FOUND", `the pod ${pod.name} has no app ${appName}: ${has}`, {
      resource: `pods/${pod.uuid}/containers/${appName}`,
    });
  }
}
