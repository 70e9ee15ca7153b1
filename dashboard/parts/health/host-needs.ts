import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { Host, HostFigure } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { BackendHealth } from "../../../gen/hostplane/v1/system_pb.ts";
import { fullness } from "../figure/fullness.ts";
import { isServed } from "./backend-health.ts";

/** Why a host needs a person, the most urgent first. */
const needKinds = ["silent", "failing", "full", "hot", "different"] as const;

export type NeedKind = (typeof needKinds)[number];

/** A reason why a host needs a person. */
export interface HostNeed {
  readonly kind: NeedKind;
  readonly severity: "failed" | "warn";
  /** In a few words: "libvirt is unreachable". */
  readonly text: string;
}

/** A host with what it needs. */
export interface HostRow {
  readonly host: Host;
  readonly needs: readonly HostNeed[];
}

/** A host renews its certificate ten days before it expires; one that has not done so by now cannot. */
const renewalFailedMs = 7 * 86_400_000;

/** From this load per CPU on, half of the processes wait. */
const hotLoad = 2;

/** Returns all hosts with what they need, the most urgent first. @param hubVersion version that all hosts should have */
export function hostRows(hosts: readonly Host[], hubVersion: string, nowMs: number): readonly HostRow[] {
  return hosts
    .map((host) => ({ host, needs: hostNeeds(host, hubVersion, nowMs) }))
    .sort((one, other) => compareNeeds(one.needs, other.needs));
}

/** Returns why a host needs a person, the most urgent first. */
function hostNeeds(host: Host, hubVersion: string, nowMs: number): readonly HostNeed[] {
  const { connected, lastSeenAt, certificateExpiresAt, report } = host;
  const needs: HostNeed[] = [];
  if (!connected) {
    const text = lastSeenAt === undefined ? "never connected" : "not connected";
    needs.push({ kind: "silent", severity: "failed", text });
  }
  if (certificateExpiresAt !== undefined && timestampMs(certificateExpiresAt) - nowMs < renewalFailedMs) {
    needs.push({ kind: "failing", severity: "warn", text: "certificate is not renewed" });
  }
  for (const backend of report?.backends ?? []) {
    if (isServed(backend) && backend.health === BackendHealth.UNAVAILABLE) {
      needs.push({ kind: "failing", severity: "failed", text: `${backend.name} is unreachable` });
    } else if (
      isServed(backend) &&
      (backend.health === BackendHealth.DEGRADED || backend.missing.length > 0)
    ) {
      needs.push({ kind: "failing", severity: "warn", text: `${backend.name} is degraded` });
    }
  }
  for (const figure of report?.figures ?? []) {
    const percent = usedPercentOfFigure(figure);
    const severity = percent === undefined ? "ok" : fullness(percent);
    if (severity !== "ok") {
      needs.push({
        kind: "full",
        severity,
        text: `${figureName(figure)} is ${Math.round(percent ?? 0)} % full`,
      });
    }
  }
  if (report?.cpuLoad !== undefined && report.cpuLoad >= hotLoad) {
    needs.push({ kind: "hot", severity: "warn", text: `load is ${report.cpuLoad} per CPU` });
  }
  if (report !== undefined && report.version !== hubVersion) {
    needs.push({
      kind: "different",
      severity: "warn",
      text: `version ${report.version}, the hub has ${hubVersion}`,
    });
  }
  return needs.sort(byUrgency);
}

/** Returns the status of a host by its most urgent need. */
export function hostStatus(needs: readonly HostNeed[]): {
  readonly kind: "ok" | "warn" | "failed";
  readonly text: string;
} {
  const [first] = needs;
  const worst = needs.some(({ severity }) => severity === "failed") ? "failed" : "warn";
  return first === undefined ? { kind: "ok", text: "healthy" } : { kind: worst, text: first.text };
}

/** Orders by what needs a person most; negative if the first does more. */
function compareNeeds(one: readonly HostNeed[], other: readonly HostNeed[]): number {
  const [first, second] = [one[0], other[0]];
  return first === undefined || second === undefined
    ? Number(first === undefined) - Number(second === undefined)
    : byUrgency(first, second);
}

/** Returns the fullest of a host's figures; undefined if it has none. */
export function fullestFigure({ report }: Host): HostFigure | undefined {
  return (report?.figures ?? []).reduce<HostFigure | undefined>(
    (fullest, figure) =>
      (usedPercentOfFigure(figure) ?? -1) >
      (fullest === undefined ? -1 : (usedPercentOfFigure(fullest) ?? -1))
        ? figure
        : fullest,
    undefined,
  );
}

/** Returns what is used in percent; undefined if nothing is known of it. */
export function usedPercentOfFigure({ usedBytes, totalBytes }: HostFigure): number | undefined {
  return totalBytes > 0n ? (Number(usedBytes) / Number(totalBytes)) * 100 : undefined;
}

/** "vg0" of "volumeGroups/vg0". */
export function figureName({ resource }: HostFigure): string {
  return resource.split("/").at(-1) ?? resource;
}

function byUrgency(one: HostNeed, other: HostNeed): number {
  return (
    needKinds.indexOf(one.kind) - needKinds.indexOf(other.kind) ||
    Number(one.severity === "warn") - Number(other.severity === "warn")
  );
}
