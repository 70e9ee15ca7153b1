import { mock } from "node:test";
import { type Test, test } from "tap";
import type { FromHost, ToHost } from "../../../client/shared-streams/port-messages.ts";
import { createStreamLink } from "../../../client/shared-streams/stream-link.ts";

const request = { baseUrl: "http://gateway", method: "p.S/M", headers: {}, body: new Uint8Array() };

/** Creates a link to a host that the test plays. */
function openLink(t: Test) {
  mock.timers.enable({ apis: ["setInterval"] });
  t.teardown(() => mock.timers.reset());
  const posted: ToHost[] = [];
  let receive = (_event: { readonly data: unknown }) => {};
  let isDead = false;
  const link = createStreamLink(
    {
      postMessage: (message) => posted.push(message as ToHost),
      addEventListener: (_type, listener) => {
        receive = listener;
      },
      start: () => {},
      close: () => {},
    },
    () => {
      isDead = true;
    },
  );
  return { link, posted, answer: (data: FromHost) => receive({ data }), isDead: () => isDead };
}

/** Starts a request, and returns the reader of its answer. */
async function readerOf({ link, answer }: ReturnType<typeof openLink>, signal?: AbortSignal) {
  const response = link.request(request, signal);
  answer({ type: "head", id: 1, status: 200, headers: { "content-type": "application/connect+proto" } });
  const { status, headers, body } = (await response) as Response;
  if (body === null) {
    throw new Error("no body");
  }
  return { status, type: headers.get("content-type"), reader: body.getReader() };
}

test("an answer is read as it arrives, and what was read is reported", async (t) => {
  const opened = openLink(t);
  const { status, type, reader } = await readerOf(opened);
  t.same([status, type], [200, "application/connect+proto"]);
  opened.answer({ type: "data", id: 1, data: Uint8Array.of(1, 2) });
  opened.answer({ type: "data", id: 1, data: Uint8Array.of(3) });
  t.same((await reader.read()).value, Uint8Array.of(1, 2));
  t.same((await reader.read()).value, Uint8Array.of(3));
  t.same(opened.posted, [
    { type: "open", id: 1, ...request },
    { type: "read", id: 1, bytes: 3 },
  ]);
  opened.answer({ type: "end", id: 1 });
  t.equal((await reader.read()).done, true);
});

test("an aborted request fails with the signal's reason, before and after its answer begins", async (t) => {
  const opened = openLink(t);
  const controller = new AbortController();
  const { reader } = await readerOf(opened, controller.signal);
  const waiting = opened.link.request(request, controller.signal);
  const reason = new Error("enough");
  controller.abort(reason);
  await t.rejects(reader.read(), reason);
  await t.rejects(waiting, reason);
  t.same(
    opened.posted.filter(({ type }) => type === "close"),
    [
      { type: "close", id: 1 },
      { type: "close", id: 2 },
    ],
  );
  await t.rejects(opened.link.request(request, controller.signal), reason);
});

test("the answers of a host that no longer responds are lost", async (t) => {
  const opened = openLink(t);
  const { reader } = await readerOf(opened);
  for (let pings = 0; pings < 10; pings += 1) {
    mock.timers.tick(2_000);
    opened.answer({ type: "pong" });
  }
  t.notOk(opened.isDead());
  const next = reader.read();
  mock.timers.tick(8_000);
  await t.rejects(next, TypeError);
  t.ok(opened.isDead());
});

test("a link without requests sends no pings", async (t) => {
  const opened = openLink(t);
  const { reader } = await readerOf(opened);
  await reader.cancel();
  mock.timers.tick(60_000);
  t.notOk(opened.isDead());
  t.same(
    opened.posted.map(({ type }) => type),
    ["open", "close"],
  );
});
