import { isDeepStrictEqual } from "node:util";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import type { RuntimeState } from "../../../adapters/podman/runtime-state.ts";
import {
  type ListPodsResponse,
  ListPodsResponseSchema,
  PodService,
  WatchPodsResponseSchema,
} from "../../../gen/hostplane/v1/pod_pb.ts";
import { handlersOf } from "../../domain/change.ts";
import { registerService, type ServiceRegistration } from "../../rpc/call/service-handlers.ts";
import { createSharedAnswers } from "../../rpc/streams/shared-answers.ts";
import { watchState } from "../../rpc/streams/watch-state.ts";
import type { PodChanges } from "./changes/pod-changes.ts";
import type { ImportTimes } from "./events/import-times.ts";
import { imageMessages, podMessages } from "./pod-messages.ts";
import { setSnapshotAge } from "./snapshot-age.ts";

export interface PodServiceOptions {
  readonly runtime: PodRuntime;
  readonly changes: PodChanges;
  readonly importTimes: ImportTimes;
}

/** Implements hostplane.v1.PodService: reads and changes pods and images. */
export function createPodService(options: PodServiceOptions): ServiceRegistration {
  const { runtime, changes, importTimes } = options;
  const lists = createSharedAnswers(ListPodsResponseSchema);
  const watched = createSharedAnswers(WatchPodsResponseSchema);
  const listOf = (state: RuntimeState) => lists.of(state, "", () => podMessages(state));
  return registerService(PodService, {
    async listPods(_request, call) {
      const snapshot = await runtime.read(call.signal);
      setSnapshotAge(call, snapshot);
      return listOf(snapshot.value);
    },
    async *watchPods(_request, call) {
      let last: ListPodsResponse | undefined;
      const read = () => runtime.read(call.signal);
      for await (const { value, readAtMs } of watchState(runtime.subscribe, read, call.signal)) {
        const list = listOf(value);
        // The change may concern only an image.
        if (!isDeepStrictEqual(list, last)) {
          last = list;
          const { pods, unreadable } = list;
          yield watched.of(list, String(readAtMs), () => ({
            pods,
            unreadable,
            readAt: clockTimeOf(readAtMs),
          }));
        }
      }
    },
    async listImages(_request, call) {
      const snapshot = await runtime.read(call.signal);
      setSnapshotAge(call, snapshot);
      return { images: imageMessages(snapshot.value, importTimes.importedAtNs) };
    },
    ...handlersOf(changes),
  });
}

function clockTimeOf(readAtMs: number): Timestamp {
  return timestampFromMs(Math.round(Date.now() - (performance.now() - readAtMs)));
}
