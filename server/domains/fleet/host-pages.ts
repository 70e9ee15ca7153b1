import type { ListHostsRequest } from "../../../gen/hostplane/v1/fleet_pb.ts";
import type { HostRecord } from "../../fleet/store/hosts.ts";
import { batchesBySize } from "../../rpc/listing/batches-by-size.ts";
import { pageSizeMax, parsePageSize } from "../../rpc/listing/listing-fields.ts";
import { positionFromToken, positionTokenFrom } from "../../rpc/listing/position-token.ts";
import { pageMaxBytes } from "../../rpc/listing/read-page.ts";

/** What a host takes in a message beside its report, in bytes: at most 32 labels, its times and hubs. */
const hostBytes = 512;

/** Returns about how many bytes a host takes in a message of any encoding. */
function sizeOfHost({ report = "", labels }: HostRecord): number {
  return hostBytes + Buffer.byteLength(report) + JSON.stringify(labels).length;
}

/** Divides hosts into the parts of a state, each of which fits into a message. There is at least one, which may be empty. */
export function partsOfHosts(hosts: readonly HostRecord[]): readonly (readonly HostRecord[])[] {
  const parts = batchesBySize(hosts, sizeOfHost, { items: pageSizeMax, bytes: pageMaxBytes });
  return parts.length === 0 ? [[]] : parts;
}

/**
 * Selects a page of hosts. A token stands for a name, so hosts that join or leave between pages move no others.
 * @param hosts ordered by name
 * @throws InfraError INVALID_FIELD
 */
export function pageOfHosts(
  hosts: readonly HostRecord[],
  { labels, pageSize, pageToken }: Pick<ListHostsRequest, "labels" | "pageSize" | "pageToken">,
): { readonly page: readonly HostRecord[]; readonly nextPageToken: string } {
  const items = parsePageSize(pageSize, pageSizeMax);
  const filters = { labels: Object.entries(labels).toSorted() };
  const after = positionFromToken(pageToken, filters, parseName);
  const rest = after === undefined ? hosts : hosts.filter(({ name }) => name > after);
  const limits = { items, bytes: pageMaxBytes };
  const [page = []] = batchesBySize(rest.slice(0, items), sizeOfHost, limits);
  const last = page.at(-1);
  const isLast = last === undefined || page.length === rest.length;
  return { page, nextPageToken: isLast ? "" : positionTokenFrom([last.name], filters) };
}

function parseName(position: unknown): string | undefined {
  const [name, ...others]: readonly unknown[] = Array.isArray(position) ? position : [];
  return typeof name === "string" && others.length === 0 ? name : undefined;
}
