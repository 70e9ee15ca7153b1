import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import type { Session } from "../../cli/table/session.ts";

/** Returns the names of the hosts that have all of the labels, of all pages. @throws ConnectError */
export async function namesOfHosts(
  session: Session,
  labels: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const names: string[] = [];
  let pageToken = "";
  do {
    const { message } = await session.call(FleetService.method.listHosts, { labels, pageToken });
    names.push(...message.hosts.map(({ name }) => name));
    pageToken = message.nextPageToken;
  } while (pageToken !== "");
  return names;
}
