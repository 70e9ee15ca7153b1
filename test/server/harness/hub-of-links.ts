import type { Hub } from "../../../server/fleet/hub/hub.ts";
import type { HostLink } from "../../../server/fleet/links/host-link.ts";

/** Returns a hub whose hosts are those of the connections. */
export function hubOf(links: readonly HostLink[]): Pick<Hub, "name" | "hosts" | "links"> {
  const hosts = links.map(({ host: name, id }) => ({
    name,
    id,
    labels: {},
    joinedAtMs: 0,
    certificateExpiresAtMs: 0,
    lastSeenAtMs: undefined,
    report: undefined,
    revision: 0,
  }));
  const unchanged = () => () => {};
  return {
    name: "hub-1",
    hosts: {
      list: () => hosts,
      find: (wanted) => hosts.find(({ name }) => name === wanted),
      has: () => true,
      refresh: async () => {},
      onChange: unchanged,
      close() {},
    },
    links: {
      find: (wanted) => links.find(({ host }) => host === wanted),
      hosts: () => links.map(({ host }) => host),
      connected: () => [],
      onChange: unchanged,
      add: async () => "another agent",
      closeRemoved() {},
      close() {},
    },
  };
}
