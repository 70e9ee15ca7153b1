import { create, toJsonString } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { test } from "tap";
import { FleetService, type Host, HostReportSchema } from "../../../../gen/hostplane/v1/fleet_pb.ts";
import { createFleetChanges } from "../../../../server/domains/fleet/changes/fleet-changes.ts";
import { createFleetService } from "../../../../server/domains/fleet/fleet-service.ts";
import { pageOfHosts } from "../../../../server/domains/fleet/host-pages.ts";
import type { Hub } from "../../../../server/fleet/hub/hub.ts";
import type { HostRecord } from "../../../../server/fleet/store/hosts.ts";
import { startAppUnderTest } from "../../harness/app-under-test.ts";
import { hubOf } from "../../harness/hub-of-links.ts";
import { protocols } from "../../harness/protocols.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";

/** As of a host with all systems and a hundred volume groups. */
const report = toJsonString(
  HostReportSchema,
  create(HostReportSchema, {
    version: "0.1.0",
    backends: Array.from({ length: 12 }, (_, index) => ({
      name: `system-${index}`,
      detail: "x".repeat(200),
    })),
    figures: Array.from({ length: 100 }, (_, index) => ({
      resource: `volumeGroups/group-with-a-long-name-${index}`,
      usedBytes: 123_456_789_012n,
      totalBytes: 1_234_567_890_123n,
    })),
  }),
);

const hostNamed = (name: string, labels: Readonly<Record<string, string>> = {}): HostRecord => ({
  name,
  id: name,
  labels,
  joinedAtMs: 0,
  certificateExpiresAtMs: 0,
  lastSeenAtMs: 0,
  report,
  revision: 0,
});

const many = Array.from({ length: 1000 }, (_, index) =>
  hostNamed(`node-${String(index).padStart(4, "0")}`, { rack: index % 2 === 0 ? "a" : "b" }),
);

test("a thousand hosts with full reports are listed and watched in messages of every encoding", async (t) => {
  const { hosts, ...rest } = hubOf([]);
  const onChange = () => () => {};
  const hub = {
    ...rest,
    hosts: { ...hosts, list: () => many },
    hubs: { connectedTo: () => [], onChange },
    problems: { find: () => undefined, onChange },
  } as unknown as Hub;
  const everything = { services: undefined, bounds: undefined };
  const calls = { routeOf: () => undefined, maxMessageBytes: 4 << 20 };
  const { url } = await startAppUnderTest(t, [
    createFleetService(
      () => hub,
      createFleetChanges(() => hub),
      calls,
      () => everything,
    ),
  ]);
  const names = many.map(({ name }) => name);
  for (const { name, createTransport } of protocols.filter(
    ({ name }) => name === "Connect JSON over HTTP/1.1" || name === "gRPC binary over HTTP/2",
  )) {
    const client = createClient(FleetService, createTransport(url));
    const listed: Host[] = [];
    let pageToken = "";
    let pages = 0;
    do {
      const page = await client.listHosts({ pageToken });
      listed.push(...page.hosts);
      pageToken = page.nextPageToken;
      pages += 1;
    } while (pageToken !== "");
    t.same(
      listed.map((host) => host.name),
      names,
      name,
    );
    t.ok(pages > 5 && pages < 30, `${name}: ${pages} pages`);
    t.equal(listed[0]?.report?.figures.length, 100);

    const leaving = new AbortController();
    const watched: string[] = [];
    for await (const { hosts, more } of client.watchHosts({}, { signal: leaving.signal })) {
      watched.push(...hosts.map((host) => host.name));
      if (!more) {
        break;
      }
    }
    leaving.abort();
    t.same(watched, names, name);
  }
  const client = createClient(FleetService, protocols[0]?.createTransport(url) as never);
  const { nextPageToken: pageToken } = await client.listHosts({ pageSize: 1 });
  t.match(await rpcErrorOf(client.listHosts({ pageToken, labels: { rack: "a" } })), {
    reason: "INVALID_FIELD",
    fields: ["page_token"],
  });
  t.match(await rpcErrorOf(client.listHosts({ pageSize: -1 })), { fields: ["page_size"] });
});

test("hosts that join and leave between two pages move no others", async (t) => {
  const three = ["a", "b", "c"].map((name) => hostNamed(name));
  const { page, nextPageToken: pageToken } = pageOfHosts(three, { labels: {}, pageSize: 2, pageToken: "" });
  t.same(
    page.map(({ name }) => name),
    ["a", "b"],
  );
  const changed = ["aa", "bb", "c", "d"].map((name) => hostNamed(name));
  const second = pageOfHosts(changed, { labels: {}, pageSize: 2, pageToken });
  t.same(
    second.page.map(({ name }) => name),
    ["bb", "c"],
  );
  const last = pageOfHosts(changed, { labels: {}, pageSize: 2, pageToken: second.nextPageToken });
  t.match(last, { page: [{ name: "d" }], nextPageToken: "" });
  t.match(pageOfHosts([], { labels: {}, pageSize: 0, pageToken: "" }), { page: [], nextPageToken: "" });
});
