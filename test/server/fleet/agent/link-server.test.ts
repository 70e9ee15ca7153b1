import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect, createServer, type Socket } from "node:net";
import { type Test, test } from "tap";
import { createLinkServer } from "../../../../server/fleet/agent/link-server.ts";

test("an agent takes the addresses of the hubs", async (t) => {
  const { send, taken } = await linkUnderTest(t);
  t.equal(await send(JSON.stringify({ hubs: ["hub-1:8443", "[::1]:8443"] })), 204);
  t.equal(await send(JSON.stringify({ hubs: ["hub-2:8443"], version: 2 })), 204, "of a newer hub");
  t.same(taken, [["hub-1:8443", "[::1]:8443"], ["hub-2:8443"]]);
});

test("an agent refuses anything else in place of the addresses", async (t) => {
  const { send, taken } = await linkUnderTest(t);
  const refused = [
    "",
    "not JSON",
    "{}",
    JSON.stringify({ hubs: [] }),
    JSON.stringify({ hubs: ["hub-1"] }),
    JSON.stringify({ hubs: ["unix:/run/hub"] }),
    JSON.stringify({ hubs: Array.from({ length: 17 }, (_, at) => `hub-${at}:8443`) }),
    JSON.stringify({ hubs: [`${"a".repeat(300)}:8443`] }),
    " ".repeat(20_000),
  ];
  for (const text of refused) {
    t.equal(await send(text), 400, text.slice(0, 60));
  }
  t.same(taken, []);
});

test("an agent closes the connection to a hub that says goodbye and then neither answers nor closes it", async (t) => {
  const { agentEnd, hubEnd } = await openConnection();
  t.teardown(() => hubEnd.destroy());
  createLinkServer({ onRequest() {}, onStream: () => true }).serve(agentEnd, "hub-1:8443");
  hubEnd.resume();
  // The preface of a client, and the frames SETTINGS and GOAWAY (RFC 9113, 3.4, 6.5 and 6.8).
  hubEnd.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  hubEnd.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]));
  hubEnd.write(Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
  await t.resolves(once(agentEnd, "close"));
});

test("answers that callers do not read refuse no other calls", async (t) => {
  const { agentEnd, hubEnd } = await openConnection();
  createLinkServer({
    onRequest(request, response) {
      response.end(request.url === "/large" ? Buffer.alloc(4 << 20) : "small");
    },
    onStream: () => false,
  }).serve(agentEnd, "hub-1:8443");
  const session = connectHttp2("http://node-1", { createConnection: () => hubEnd });
  t.teardown(() => session.destroy());
  const unread = Array.from({ length: 10 }, () => session.request({ ":path": "/large" }));
  await Promise.all(unread.map((stream) => once(stream, "response")));
  const other = session.request({ ":path": "/small" }).setEncoding("utf8");
  t.same(await other.toArray(), ["small"]);
});

/** Returns both ends of a connection. The end of the hub stays open when the other one is closed. */
async function openConnection(): Promise<{ readonly agentEnd: Socket; readonly hubEnd: Socket }> {
  const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { readonly port: number };
  const agentEnd = connect(port, "127.0.0.1");
  const [hubEnd] = (await once(server, "connection")) as [Socket];
  server.close();
  return { agentEnd, hubEnd };
}

/** Returns the hub's end of a connection that an agent serves. */
async function linkUnderTest(t: Test) {
  const taken: (readonly string[])[] = [];
  const { agentEnd, hubEnd } = await openConnection();
  const unexpected = () => t.fail("a call");
  createLinkServer(
    {
      onRequest: unexpected,
      onStream() {
        unexpected();
        return true;
      },
    },
    async (hubs) => void taken.push(hubs),
  ).serve(agentEnd, "hub-1:8443");
  const session = connectHttp2("http://node-1", { createConnection: () => hubEnd });
  t.teardown(() => session.destroy());

  async function send(text: string): Promise<number> {
    const stream = session.request({ ":method": "POST", ":path": "/fleet/hubs" });
    stream.end(text);
    const [headers] = await once(stream, "response");
    stream.resume();
    return headers[":status"];
  }
  return { send, taken };
}
