import { EventEmitter } from "node:events";
import { type Test, test } from "tap";
import { createOpenRequests } from "../../../../../server/rpc/listener/unknown-callers/open-requests.ts";
import type { HttpRequest, HttpResponse } from "../../../../../server/rpc/protocols/http/http-exchange.ts";

/** Requests whose clock the test advances. */
function begin(t: Test) {
  let nowMs = 0;
  let sweep = () => {};
  t.intercept(performance, "now", { value: () => nowMs });
  t.intercept(globalThis, "setInterval", {
    value(callback: () => void) {
      sweep = callback;
      return { unref: () => ({}) };
    },
  });
  const cut: string[] = [];
  const requests = createOpenRequests(
    { bytes: 2 ** 20, bytesPerAddress: 2 ** 20, bodyMs: 10_000, unreadMs: 30_000, unknownUnreadMs: 10_000 },
    (address, why) => cut.push(`${address} ${why}`),
  );
  const track = (remoteAddress: string) => {
    const response = Object.assign(new EventEmitter(), { writableLength: 16_000 });
    const request = { socket: { remoteAddress, destroy: () => {} } };
    const tracked = requests.track(
      request as unknown as HttpRequest,
      response as unknown as HttpResponse,
      undefined,
    );
    return { tracked, response };
  };
  const pass = (ms: number) => {
    nowMs += ms;
    sweep();
  };
  return { track, pass, cut };
}

test("an answer that is not read is cut for any caller, and sooner for unknown callers", (t) => {
  const { track, pass, cut } = begin(t);
  track("192.0.2.1");
  track("192.0.2.2").tracked.identified();
  pass(1);
  pass(11_001);
  t.same(cut, ["192.0.2.1 its answer was not read in time"]);
  pass(19_000);
  t.equal(cut.length, 1);
  pass(1000);
  t.equal(cut[1], "192.0.2.2 its answer was not read in time");
  t.end();
});

test("a stream that is read, however slowly, is not cut", (t) => {
  const { track, pass, cut } = begin(t);
  const { tracked, response } = track("192.0.2.1");
  tracked.identified();
  for (let count = 0; count < 10; count += 1) {
    pass(25_000);
    tracked.onSent();
  }
  response.writableLength = 0;
  pass(25_000);
  response.writableLength = 16_000;
  pass(25_000);
  t.same(cut, []);
  t.end();
});

test("unread bytes count for the caller until they have left or the answer is over", (t) => {
  const { track, pass } = begin(t);
  const { tracked, response } = track("192.0.2.1");
  let unreadBytes = 0;
  tracked.chargeTo({
    spend: () => {},
    countMessage: () => {},
    addUnread: (bytes) => (unreadBytes += bytes),
    close: () => {},
  });
  tracked.onWritten();
  t.equal(unreadBytes, 16_000);
  response.writableLength = 6_000;
  pass(1000);
  t.equal(unreadBytes, 6_000);
  response.emit("close");
  t.equal(unreadBytes, 0);
  tracked.onWritten();
  t.equal(unreadBytes, 0, "also if something is written after its end");
  t.end();
});
