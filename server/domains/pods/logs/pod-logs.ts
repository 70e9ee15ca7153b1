import { InfraError } from "../../../../adapters/host/infra-error.ts";
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
   * the pod is gone or `until_time` has come.
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
}

export function createPodLogs({ runtime, maxMessageBytes }: PodLogsOptions): PodLogs {
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
      try {
        yield* request.follow ? followedLog(reading, signal) : windowedLog(reading, signal);
      } finally {
        leaving.abort();
      }
    },
  };
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
