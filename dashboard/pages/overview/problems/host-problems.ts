import { timestampMs } from "@bufbuild/protobuf/wkt";
import { pathOfHost } from "../../../host/address-of-host.ts";
import type { HostRow } from "../../../parts/health/host-needs.ts";
import { type Problem, ranks } from "./problem.ts";

/** Returns a problem for each host of the fleet that is not connected, has a failed system, or is full. */
export function hostProblems(rows: readonly HostRow[]): readonly Problem[] {
  return rows.flatMap(({ host, needs }) => {
    const failed = needs.filter(({ severity }) => severity === "failed");
    const [first] = failed;
    const isSilent = first?.kind === "silent";
    return first === undefined
      ? []
      : [
          {
            key: `host ${host.name}`,
            severity: "failed" as const,
            rank: ranks.system,
            title: `Host ${host.name}: ${first.text}`,
            cause: failed
              .slice(1)
              .map(({ text }) => text)
              .join(", "),
            place: host.name,
            sinceMs: isSilent && host.lastSeenAt !== undefined ? timestampMs(host.lastSeenAt) : undefined,
            path: pathOfHost(host.name),
          },
        ];
  });
}
