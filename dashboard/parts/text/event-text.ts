import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Event, Gap } from "../../../gen/hostplane/v1/event_pb.ts";
import { operationStateText } from "../operation/operation-state.ts";
import { localClock } from "./local-time.ts";
import { sizeText } from "./size-text.ts";

/** Returns what an event contains beyond its type and resource, as text; empty if there is nothing else. */
export function eventText({ detail }: Event): string {
  switch (detail.case) {
    case "operation": {
      const { state, message, error } = detail.value;
      return joined([operationStateText(state), error?.message ?? message], ", ");
    }
    case "volume": {
      const { sizeBytes, previousSizeBytes, changes, outside } = detail.value;
      const size =
        previousSizeBytes === undefined
          ? sizeText(sizeBytes)
          : `${sizeText(previousSizeBytes)} → ${sizeText(sizeBytes)}`;
      return joined([size, ...changes, outside ? "outside this gateway" : ""], "; ");
    }
    case "volumeGroup":
      return `${sizeText(detail.value.freeBytes)} of ${sizeText(detail.value.sizeBytes)} free`;
    case "hypervisor": {
      const { previousState, state, reason, changes, outside } = detail.value;
      return joined(
        [change(previousState, state), reason, ...changes, outside ? "outside this gateway" : ""],
        "; ",
      );
    }
    case "storagePool":
      return `${sizeText(detail.value.previousSizeBytes)} → ${sizeText(detail.value.sizeBytes)}`;
    case "clusterHealth": {
      const { previousStatus, status, raised, cleared } = detail.value;
      return joined(
        [change(previousStatus, status), ...raised, ...cleared.map((code) => `cleared: ${code}`)],
        "; ",
      );
    }
    case "cephDaemon":
      return change(detail.value.previousState, detail.value.state);
    case "cephSpace":
      return `${sizeText(detail.value.usedBytes)} of ${sizeText(detail.value.totalBytes)} in use`;
    case "cephCrash":
      return joined([detail.value.entity, detail.value.what], ": ");
    case "pod":
      return detail.value.exitCode === undefined ? "" : `exit code ${detail.value.exitCode}`;
    case "image":
      return detail.value.names.join(", ");
    case "kubernetesCluster":
      return joined(
        [change(detail.value.previousStatus, detail.value.status), detail.value.statusMessage],
        "; ",
      );
    case "kubernetesMachine":
      return joined([detail.value.state, detail.value.message], ": ");
    case "gap":
      return gapText(detail.value);
    default:
      return "";
  }
}

function gapText({ from, to, reason }: Gap): string {
  const since = from === undefined ? "" : ` after ${timeText(timestampMs(from))}`;
  const until = to === undefined ? "" : ` until ${timeText(timestampMs(to))}`;
  return `Changes${since}${until} may have been missed: ${reason}`;
}

function timeText(ms: number): string {
  return localClock(new Date(ms));
}

function change(before: string, after: string): string {
  return before === "" || before === after ? after : `${before} → ${after}`;
}

function joined(words: readonly string[], separator: string): string {
  return words.filter((word) => word !== "").join(separator);
}
