import { fromJsonString, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { HostReportSchema, type HostSchema } from "../../../gen/hostplane/v1/fleet_pb.ts";
import type { Hub } from "../../fleet/hub/hub.ts";
import type { HostRecord } from "../../fleet/store/hosts.ts";

type HostMessage = MessageInitShape<typeof HostSchema>;

/** Converts a host to the API's message. */
export function hostMessage(
  record: HostRecord,
  { links, hubs, problems }: Pick<Hub, "links" | "hubs" | "problems">,
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
    // A hub of another version may have stored fields that this one does not know.
    ...(report === undefined
      ? {}
      : { report: fromJsonString(HostReportSchema, report, { ignoreUnknownFields: true }) }),
  };
}
