import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { Event, HypervisorEvent, PodEvent } from "../../../gen/hostplane/v1/event_pb.ts";
import { operationSummary } from "../../cli/table/operation-text.ts";
import { printableLine } from "../../cli/table/printable-line.ts";
import { sizeText } from "../../cli/table/size-text.ts";

/** Formats an event as one line: time, type, resource and facts. */
export function eventLine(event: Event): string {
  const { at, type, resource, host, fleetHost } = event;
  const where = whereText(host, fleetHost);
  const facts = factsOf(event);
  return printableLine(`${timeText(at)} ${type} ${resource}${where}${facts === "" ? "" : `: ${facts}`}`);
}

/** A host of the fleet is named instead of the host name that it has itself. */
function whereText(host: string, fleetHost: string): string {
  const name = fleetHost === "" ? host : fleetHost;
  return name === "" ? "" : ` on ${name}`;
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
      return facts([`${sizeText(sizeBytes)}${before}`, ...changes, byWhom(outside, operationId)]);
    }
    case "volumeGroup": {
      const { freeBytes, sizeBytes, deviceClasses } = detail.value;
      return `${sizeText(freeBytes)} of ${sizeText(sizeBytes)} free; ${deviceClasses.join(", ")}`;
    }
    case "hypervisor":
      return hypervisorFacts(detail.value, operationId);
    case "storagePool": {
      const { sizeBytes, previousSizeBytes, added, removed } = detail.value;
      return facts([
        `${sizeText(sizeBytes)}, before ${sizeText(previousSizeBytes)}`,
        added.length === 0 ? "" : `added ${added.join(", ")}`,
        removed.length === 0 ? "" : `removed ${removed.join(", ")}`,
        byWhom(false, operationId),
      ]);
    }
    case "clusterHealth": {
      const { status, previousStatus, raised, cleared } = detail.value;
      const before = previousStatus === status ? "" : `, before ${previousStatus}`;
      return facts([
        `${status}${before}`,
        ...raised,
        cleared.length === 0 ? "" : `cleared ${cleared.join(", ")}`,
      ]);
    }
    case "cephDaemon": {
      const { name, host, state, previousState } = detail.value;
      const before = previousState === "" ? "" : `, before ${previousState}`;
      return `${name}${host === "" ? "" : ` on ${host}`} ${state}${before}`;
    }
    case "cephSpace": {
      const { name, usedBytes, totalBytes } = detail.value;
      return `${name} ${sizeText(usedBytes)} of ${sizeText(totalBytes)} used`;
    }
    case "cephCrash": {
      const { entity, host, at, what } = detail.value;
      return `${entity} on ${host}${at === undefined ? "" : ` at ${timeText(at)}`}: ${what}`;
    }
    case "pod":
      return podFacts(detail.value, operationId);
    case "image": {
      const { names, happenedAt, reconciled } = detail.value;
      return facts([names.join(", "), howKnown(happenedAt, reconciled), byWhom(false, operationId)]);
    }
    case "kubernetesCluster": {
      const { status, previousStatus, statusMessage } = detail.value;
      const before = previousStatus === "" || previousStatus === status ? "" : `, before ${previousStatus}`;
      return facts([`${status}${before}`, statusMessage]);
    }
    case "kubernetesMachine": {
      const { cluster, pool, state, systemId, message } = detail.value;
      const where = `of ${cluster}, ${pool === "" ? "control plane" : `pool ${pool}`}`;
      return facts([`${state}${systemId === "" ? "" : `, machine ${systemId}`}`, where, message]);
    }
    case "gap": {
      const { from, to, reason } = detail.value;
      return `${from === undefined ? "" : `from ${timeText(from)} `}to ${timeText(to)}: ${reason}`;
    }
    default:
      return "";
  }
}

function hypervisorFacts(event: HypervisorEvent, operationId: string): string {
  const { state, previousState, reason, outside, changes } = event;
  const isInChanges = previousState === state || changes.some((change) => change.startsWith("state: "));
  const before = previousState === "" || isInChanges ? "" : `, before ${previousState}`;
  return facts([`${state}${before}`, reason, ...changes, byWhom(outside, operationId)]);
}

function podFacts(event: PodEvent, operationId: string): string {
  const { name, containerId, exitCode, happenedAt, reconciled } = event;
  const pod = name === "" ? "" : `of ${name}, `;
  return facts([
    containerId === "" ? name : `${pod}container ${containerId.slice(0, 12)}`,
    exitCode === undefined ? "" : `exit code ${exitCode}`,
    howKnown(happenedAt, reconciled),
    byWhom(false, operationId),
  ]);
}

function facts(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

function byWhom(outside: boolean, operationId: string): string {
  if (outside) {
    return "not by this gateway";
  }
  return operationId === "" ? "" : `by operation ${operationId}`;
}

/** Notes when a change was found only afterwards. Changes observed live need no note, since they are recorded at once. */
function howKnown(happenedAt: Timestamp | undefined, reconciled: boolean): string {
  return reconciled ? `detected later, happened at ${timeText(happenedAt)}` : "";
}

function timeText(time: Timestamp | undefined): string {
  return time === undefined ? "" : timestampDate(time).toISOString();
}
