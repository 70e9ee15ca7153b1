import { test } from "tap";
import { carriedHeader, makeCarriedCall } from "../../../../server/domains/streams/carried-call.ts";
import { createCarriedResponse } from "../../../../server/domains/streams/carried-response.ts";
import { createCarrier } from "../../../../server/domains/streams/carrier.ts";
import type { Peer } from "../../../../server/rpc/call/call.ts";

const peer = { httpVersion: "1.1" } as Peer;

/** Lets pending promises settle. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) {
    await new Promise(setImmediate);
  }
}

test("a call waits for a carrier that is not read, and holds one message", async (t) => {
  let made = 0;
  async function* body() {
    for (;;) {
      made += 1;
      yield new Uint8Array(150_000).fill(made);
    }
  }
  const ending = new AbortController();
  const carrier = createCarrier(60_000);
  const response = createCarriedResponse(carrier, 7);
  const handle = async () => ({ status: 200, body: body() });
  const request = { path: "/p.S/M", header: new Headers(), body: new Uint8Array(), peer };
  const done = makeCarriedCall(handle, request, response, ending.signal);
  await settle();
  t.equal(made, 1);
  t.equal(carrier.unsentBytes, 150_000);

  const stopping = new AbortController();
  const messages = carrier.messages(stopping.signal);
  const sizes: number[] = [];
  for (let part = 0; part < 7; part += 1) {
    const { value } = await messages.next();
    if (value?.message?.case === "data") {
      t.equal(value.message.value.stream, 7);
      sizes.push(value.message.value.data?.byteLength ?? 0);
    }
  }
  t.same(sizes, [65_536, 65_536, 18_928, 65_536, 65_536, 18_928], "large messages are cut into parts");
  await settle();
  t.equal(made, 2, "the next message is made when the last one has left");

  stopping.abort();
  await messages.next();
  await done;
  t.ok(response.destroyed);
  t.equal(carrier.unsentBytes, 0);
});

test("a call has the headers of the one that started it, except those of its body", async (t) => {
  const sent: Readonly<Record<string, string>> = {
    authorization: "Bearer t",
    cookie: "c=1",
    "content-type": "application/proto",
    "content-length": "3",
    "connect-timeout-ms": "5",
    origin: "https://dashboard.example",
  };
  const starter = { header: (name: string) => sent[name], headerNames: () => Object.keys(sent) };
  t.same(Object.fromEntries(carriedHeader(starter, "application/connect+proto")), {
    authorization: "Bearer t",
    cookie: "c=1",
    "connect-protocol-version": "1",
    "content-type": "application/connect+proto",
    origin: "https://dashboard.example",
  });
});
