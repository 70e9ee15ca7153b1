import { once } from "node:events";
import * as http from "node:http";
import { connect, createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { createBackpressure } from "../../../../../server/rpc/protocols/http/backpressure.ts";
import type { NodeResponse } from "../../../../../server/rpc/protocols/http/http-exchange.ts";

/** Starts an HTTP/2 response to a client that reads nothing until it is resumed. */
async function startResponse(t: Test) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const arrived = once(server, "request") as Promise<[Readable, NodeResponse]>;
  const client = session.request({ ":path": "/" });
  client.on("error", () => {});
  const [request, response] = await arrived;
  request.resume();
  response.writeHead(200);
  t.teardown(() => {
    session.destroy();
    server.close();
  });
  await once(client, "response");
  return { backpressure: createBackpressure(response, () => {}), client };
}

test("messages of one turn leave together, and the next one waits until they have left", async (t) => {
  const { backpressure, client } = await startResponse(t);
  const message = Buffer.alloc(1000);
  t.equal(backpressure.flushed(), true, "nothing is written");
  for (let count = 0; count < 10; count += 1) {
    t.equal(backpressure.canWrite(), true);
    backpressure.write(message);
  }
  t.not(backpressure.flushed(), true);
  await new Promise((resolve) => setImmediate(resolve));
  client.resume();
  t.equal(await backpressure.canWrite(), true);
  t.equal(backpressure.flushed(), true);
});

test("writing waits for a client that reads nothing, and ends when the client leaves", async (t) => {
  const { backpressure, client } = await startResponse(t);
  let written = 0;
  while (backpressure.canWrite() === true) {
    backpressure.write(Buffer.alloc(10_000));
    written += 10_000;
  }
  t.equal(written, 70_000, "no more than that in one turn");
  // More than Node's window for a stream, so it cannot leave.
  backpressure.write(Buffer.alloc(200_000));
  const room = backpressure.canWrite();
  const first = await Promise.race([room, sleep(100, "waiting")]);
  t.equal(first, "waiting");
  client.destroy();
  t.equal(await room, false);
  t.equal(await backpressure.flushed(), false);
});

test("an endless stream ends with its connection, and yields to the event loop", async (t) => {
  const server = http.createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => server.close());
  const client = http.get({ port: (server.address() as AddressInfo).port, agent: false });
  client.on("error", () => {});
  client.on("response", (answer) => answer.on("error", () => {}).resume());
  const [request, response] = (await once(server, "request")) as [http.IncomingMessage, NodeResponse];
  const backpressure = createBackpressure(response, () => {});
  const turns = { seen: 0 };
  const timer = setInterval(() => {
    turns.seen += 1;
  }, 1);
  t.teardown(() => clearInterval(timer));
  const writeUntil = async (isEnough: () => boolean): Promise<number> => {
    for (let count = 0; count < 10_000 && !isEnough(); count += 1) {
      if (!(await backpressure.canWrite())) {
        return count;
      }
      backpressure.write(Buffer.alloc(70_000));
    }
    return Number.POSITIVE_INFINITY;
  };
  await writeUntil(() => turns.seen >= 3);
  t.ok(turns.seen >= 3, "timers run while a client reads everything it gets");
  // Without an event: Node reports it in a later turn of the event loop.
  request.socket.destroy();
  t.ok((await writeUntil(() => false)) < 10);
});
