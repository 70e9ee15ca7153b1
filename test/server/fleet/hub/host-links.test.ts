import { once } from "node:events";
import * as http2 from "node:http2";
import { connect, createServer, type Socket } from "node:net";
import { type Test, test } from "tap";
import { createHostLinks } from "../../../../server/fleet/hub/host-links.ts";
import { until } from "../../harness/until.ts";
import { serveEmptyMessages } from "../enrolled-host.ts";

const node1 = { name: "node-1", id: "1" };

/** More connections at once than Node allows open pings on a session. */
const copies = 25;

test("of connections that a host opens at once, one is taken over", async (t) => {
  const links = linksUnderTest(t);
  const opened = await Promise.all(Array.from({ length: copies }, () => openConnection(t)));
  const taken = await Promise.all(opened.map((connection) => links.add(node1, async () => connection)));
  t.equal(taken.filter((each) => each === "taken over").length, 1);
  const link = links.find("node-1");

  const later = await Promise.all(Array.from({ length: copies }, () => openConnection(t)));
  const replaced = await Promise.all(later.map((connection) => links.add(node1, async () => connection)));
  t.ok(
    replaced.every((each) => each === "another agent"),
    "while it is alive, none replaces it",
  );
  t.equal(links.find("node-1"), link);
  t.notOk(link?.closed.aborted);
});

test("a failed takeover does not refuse the next connection", async (t) => {
  const links = linksUnderTest(t);
  await t.rejects(links.add(node1, () => Promise.reject(new Error("broken"))));
  const connection = await openConnection(t);
  t.equal(await links.add(node1, async () => connection), "taken over");
});

test("an agent is recognised at another address of the hub", async (t) => {
  const links = linksUnderTest(t);
  const [one, two] = [await openConnection(t), await openConnection(t)];
  const add = (connection: Socket, agentId?: string) => links.add(node1, async () => connection, agentId);
  const both = await Promise.all([add(one, "a"), add(two, "a")]);
  t.same(both.toSorted(), ["same agent", "taken over"], "while it is being added");
  t.equal(await add(two, "a"), "same agent");
  t.equal(await add(two, "b"), "another agent");
  t.equal(await add(two), "another agent");
});

test("the connection of a removed host is closed although another host has its name", async (t) => {
  const links = linksUnderTest(t);
  const connection = await openConnection(t);
  await links.add(node1, async () => connection);
  links.closeRemoved(({ id }) => id === "1");
  t.same(links.hosts(), ["node-1"]);
  const closed = once(connection, "close");
  links.closeRemoved(({ id }) => id === "2");
  await closed;
  t.same(links.hosts(), []);
});

test("a host that sends interim responses loses its connection", async (t) => {
  const links = linksUnderTest(t);
  const connection = await openConnection(t, (agentEnd) => {
    const server = http2.createServer();
    server.on("stream", (stream: http2.ServerHttp2Stream) => {
      stream.on("error", () => {});
      stream.additionalHeaders({ ":status": 103 });
    });
    server.emit("connection", agentEnd);
  });
  await links.add(node1, async () => connection);
  const link = links.find("node-1");
  link?.request({ ":path": "/" }).on("error", () => {});
  await until(() => link?.closed.aborted === true);
  t.same(links.hosts(), []);
});

test("a distant host may send more than 64 KiB before the hub has confirmed any of it", async (t) => {
  const links = linksUnderTest(t);
  const sessions: http2.ServerHttp2Session[] = [];
  const connection = await openConnection(t, (agentEnd) => {
    const server = http2.createServer().on("session", (session) => sessions.push(session));
    server.emit("connection", agentEnd);
  });
  await links.add(node1, async () => connection);
  const [session] = sessions;
  await until(() => Number(session?.state.remoteWindowSize) > 1_000_000);
  t.equal(session?.remoteSettings.initialWindowSize, 262_144, "of one answer");
  t.equal(session?.state.remoteWindowSize, 4_194_304, "of all answers together");
});

function linksUnderTest(t: Test) {
  const links = createHostLinks();
  t.teardown(() => links.close());
  return links;
}

/** Returns the hub's end of a connection that an agent serves. */
async function openConnection(t: Test, serve = serveEmptyMessages): Promise<Socket> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  const agentEnd = connect(port, "127.0.0.1").on("error", () => {});
  const [hubEnd] = (await once(server, "connection")) as [Socket];
  server.close();
  hubEnd.on("error", () => {});
  t.teardown(() => {
    agentEnd.destroy();
    hubEnd.destroy();
  });
  serve(agentEnd);
  return hubEnd;
}
