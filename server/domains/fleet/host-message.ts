import { fromJsonString, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type HostReport, HostReportSchema, type HostSchema } from "../../../gen/hostplane/v1/fleet_pb.ts";
import type { Visibility } from "../../domain/visibility.ts";
import type { Hub } from "../../fleet/hub/hub.ts";
import type { HostRecord } from "../../fleet/store/hosts.ts";
import { visibleReport } from "./visible-report.ts";

/** What a caller who may see everything sees. */
const everything: Visibility = { services: undefined, bounds: undefined };

type HostMessage = MessageInitShape<typeof HostSchema>;

/** Converts a host to the API's message, with what the caller may see of its report. */
export function hostMessage(
  record: HostRecord,
  { links, hubs, problems }: Pick<Hub, "links" | "hubs" | "problems">,
  visibility: Visibility = everything,
): HostMessage {
  const { name, id, labels, lastSeenAtMs, joinedAtMs, certificateExpiresAtMs, report } = record;
  return {
    name,
    labels: { ...labels },
    connected: links.find(name) !== undefined,
    hubs: [...hubs.connectedTo(id)],
    problem: problems.find(name) ?? "",
    joinedAt: timestampFromMs(joinedAtMs),
    certificateExpiresAt: timestampFromMs(certificateExpiresAtMs),
    ...(lastSeenAtMs === undefined ? {} : { lastSeenAt: timestampFromMs(lastSeenAtMs) }),
    ...(report === undefined ? {} : { report: visibleReport(reportFrom(report), name, visibility) }),
  };
}

/** A hub of another version may have stored fields that this one does not know. */
function reportFrom(text: string): HostReport {
  return fromJsonString(HostReportSchema, text, { ignoreUnknownFields: true });
}
