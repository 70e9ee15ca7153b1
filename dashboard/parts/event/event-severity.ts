import type { Event } from "../../../gen/hostplane/v1/event_pb.ts";
import { operationStateText, operationStatus } from "../operation/operation-state.ts";
import type { StatusKind } from "../status.tsx";

/** Types of events that are problems, and that are warnings; the others are changes. */
const problems: ReadonlySet<string> = new Set([
  "osd.down",
  "mon.left",
  "mgr.none",
  "crash.reported",
  "hypervisor.unknown",
  "volumeGroup.gone",
]);
const warnings: ReadonlySet<string> = new Set([
  "gap",
  "plan.glassBroken",
  "volumeGroup.low",
  "osd.nearFull",
  "osd.out",
  "pool.nearFull",
  "hypervisor.stopped",
]);

/** Reports whether a container ended with an error: 143 is the end by SIGTERM, which is how a pod is stopped. */
export function isFailedExit(exitCode: number | undefined): boolean {
  return exitCode !== undefined && exitCode !== 0 && exitCode !== 143;
}

/** How much an event matters. */
export function eventSeverity(event: Event): { readonly kind: StatusKind; readonly text: string } {
  const { detail, type } = event;
  switch (detail.case) {
    case "operation":
      return { kind: operationStatus(detail.value.state), text: operationStateText(detail.value.state) };
    case "pod":
      return isFailedExit(detail.value.exitCode) ? problem : change;
    case "clusterHealth":
      return detail.value.status === "HEALTH_ERR"
        ? problem
        : detail.value.status === "HEALTH_WARN"
          ? warning
          : change;
    default:
      return problems.has(type) ? problem : warnings.has(type) ? warning : change;
  }
}

const problem = { kind: "failed", text: "problem" } as const;
const warning = { kind: "warn", text: "warning" } as const;
const change = { kind: "change", text: "change" } as const;
