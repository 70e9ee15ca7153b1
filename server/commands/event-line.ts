import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { operationSummary } from "./operation-lines.ts";
import { printableLine } from "./printable-line.ts";

/** An event in one line: when, what, about what, and the facts. */
export function eventLine(event: Event): string {
  const { at, type, resource, host } = event;
  const where = host === "" ? "" : ` on ${host}`;
  const facts = factsOf(event);
  return printableLine(`${timeText(at)} ${type} ${resource}${where}${facts === "" ? "" : `: ${facts}`}`);
}

function factsOf({ detail, operationId }: Event): string {
  switch (detail.case) {
    case "operation": {
      const { kind, id } = detail.value;
      return `${kind} ${id} ${operationSummary(detail.value)}`;
    }
    case "volume": {
      const { sizeBytes, previousSizeBytes, outside, changes } = detail.value;
      const before = previousSizeBytes === undefined ? "" : `, before ${sizeText(previousSizeBytes)}`;
      const by = operationId === "" ? "" : `by the operation ${operationId}`;
      return [`${sizeText(sizeBytes)}${before}`, ...changes, outside ? "not by this gateway" : by]
        .filter((part) => part !== "")
        .join("; ");
    }
    case "volumeGroup": {
      const { freeBytes, sizeBytes, deviceClasses } = detail.value;
      return `${sizeText(freeBytes)} of ${sizeText(sizeBytes)} free; ${deviceClasses.join(", ")}`;
    }
    case "gap": {
      const { from, to, reason } = detail.value;
      return `${from === undefined ? "" : `from ${timeText(from)} `}to ${timeText(to)}: ${reason}`;
    }
    default:
      return "";
  }
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** As it is read by people: `1.5 GiB`. */
function sizeText(bytes: bigint): string {
  const size = Number(bytes);
  const power = size < 1024 ? 0 : Math.min(Math.floor(Math.log2(size) / 10), units.length - 1);
  return `${Number((size / 1024 ** power).toFixed(2))} ${units[power]}`;
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
