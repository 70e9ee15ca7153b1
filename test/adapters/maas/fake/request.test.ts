import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { test } from "tap";
import { type FakeRequest, readRequest } from "../../../../adapters/maas/fake/request.ts";

test("a form is the same in both encodings", async (t) => {
  let read: FakeRequest | undefined;
  const server = createServer((message, response) => {
    readRequest(message).then(
      (request) => {
        read = request;
        response.end();
      },
      () => message.socket.destroy(),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/MAAS/api/2.0/machines/?op=release&id=a&id=b`;
  // Line endings are normalized in multipart/form-data.
  const word = fc.string({ unit: "grapheme" }).filter((text) => !/[\r\n]/.test(text));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(word, word), { maxLength: 5 }), async (pairs) => {
      const multipart = new FormData();
      for (const [key, value] of pairs) {
        multipart.append(key, value);
      }
      const bodies = pairs.length === 0 ? [undefined] : [multipart, new URLSearchParams(pairs)];
      for (const body of bodies) {
        await (await fetch(url, { method: "POST", ...(body && { body }) })).text();
        if (JSON.stringify([...(read?.form ?? [])]) !== JSON.stringify(pairs)) {
          return false;
        }
      }
      return read?.op === "release" && read.query.getAll("id").join() === "a,b";
    }),
  );
  const json = { method: "POST", body: "{}", headers: { "content-type": "application/json" } };
  await (await fetch(url, json)).text();
  t.equal(read?.form, undefined, "JSON is not a form");
});
