import assert from "node:assert/strict";
import * as http from "node:http";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import { allReasons } from "../../../../../server/gateway/all-reasons.ts";
import { refuse } from "../../../../../server/rpc/protocols/http/refusal.ts";
import { rpcReasons } from "../../../../../server/rpc/reasons.ts";
import { errorFromAnswer } from "../../../harness/raw-error.ts";
import { requestOver } from "../../../harness/raw-request.ts";

const types = [
  "application/grpc",
  "application/grpc+proto",
  "application/grpc-web+proto",
  "application/grpc-web+json",
  "application/connect+json",
  "application/connect+proto",
  "application/json",
  "application/proto",
  "text/html",
];

/** Starts servers for both HTTP versions that refuse every request with the current error. */
async function startRefusing(t: Test, errorNow: () => InfraError, httpStatus?: number) {
  const onRequest = (request: unknown, response: unknown) => {
    const headers = { "x-kept": "1", "x-none": undefined };
    refuse(
      request as never,
      response as never,
      errorNow(),
      headers,
      httpStatus === undefined ? {} : { httpStatus },
    );
  };
  const urls = { "1.1": "", "2": "" };
  for (const [version, server] of [
    ["1.1", http.createServer(onRequest)],
    ["2", http2.createServer(onRequest)],
  ] as const) {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.teardown(() => server.close());
    urls[version] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  return urls;
}

test("any error reaches a client unchanged, in the protocol of its request", async (t) => {
  let error = new InfraError(hostReasons.INTERNAL, "");
  const urls = await startRefusing(t, () => error);
  const cases = fc.record({
    reason: fc.constantFrom(...allReasons),
    // Texts contain anything: file names, umlauts, line breaks, percent signs.
    message: fc.string({ unit: "grapheme", maxLength: 60 }),
    type: fc.constantFrom(...types),
    version: fc.constantFrom("1.1" as const, "2" as const),
    fields: fc.array(fc.string({ maxLength: 20 }), { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ reason, message, type, version, fields }) => {
      error = new InfraError(reason, message, {
        violations: fields.map((field) => ({ field, description: "wrong" })),
      });
      const answer = await requestOver[version](urls[version], {
        path: "/x",
        headers: { "content-type": type },
        body: "{}",
      });
      const { id, code } = reason;
      const isJson = !/^application\/(grpc|connect\+)/.test(type);
      assert.equal(answer.headers["content-type"], isJson ? "application/json" : type);
      assert.equal(answer.headers["x-kept"], "1", "headers of plugins are kept");
      assert.equal(answer.status === 200, !isJson, `${answer.status} for ${type}`);
      assert.deepEqual(errorFromAnswer(answer), { code, reason: id, domain: "hostplane", fields, message });
    }),
    { numRuns: 120 },
  );
});

test("the status of the JSON form can be set, and HEAD gets no body", async (t) => {
  const urls = await startRefusing(t, () => new InfraError(rpcReasons.METHOD_NOT_FOUND, "none"), 404);
  for (const version of ["1.1", "2"] as const) {
    const headers = { "content-type": "application/json" };
    t.equal((await requestOver[version](urls[version], { path: "/x", headers })).status, 404);
    const head = await requestOver[version](urls[version], { method: "HEAD", path: "/x" });
    t.match(head, { status: 404, body: { byteLength: 0 } });
    const grpc = { "content-type": "application/grpc-web" };
    t.equal((await requestOver[version](urls[version], { path: "/x", headers: grpc })).status, 200);
  }
});
