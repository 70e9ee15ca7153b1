import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { requestHttp2, requestOver } from "../harness/raw-request.ts";

const login = "/services.auth.AuthService/Login";
const createVolume = "/proto.LVService/CreateLV";
const json = { "content-type": "application/json" };
const grpc = { "content-type": "application/grpc" };

/** Requests without credentials, each refused for a different reason. */
const refused = {
  "a compressed message without a named compression": [login, grpc, encodeEnvelope(1, Buffer.from("a"))],
  "a message that cannot be parsed": [login, grpc, encodeEnvelope(0, Buffer.from([0x0a, 0x09]))],
  "broken JSON": [login, json, Buffer.from("{")],
  "an unknown field with a long name": [
    login,
    json,
    Buffer.from(JSON.stringify({ ["x".repeat(10_000)]: 1 })),
  ],
  "a change": [createVolume, json, Buffer.from("{}")],
  "a change with a bad token": [createVolume, { ...json, authorization: "Bearer a" }, Buffer.from("{}")],
  "a change with a bad cookie": [createVolume, { ...json, cookie: "hostplane_session=a" }, Buffer.from("{}")],
  "a change with a header that is too much": [
    createVolume,
    { ...json, "hostplane-x": "1" },
    Buffer.from("{}"),
  ],
  "a change over REST": ["/api/v1/cluster", json, Buffer.from("{}")],
  "an unknown method": ["/a.B/C", json, Buffer.from("{}")],
  "metrics with a bad token": ["/metrics", { ...json, authorization: "Bearer a" }, Buffer.from("")],
} as const;

test("refused calls without credentials write a bounded number of bytes to the log, and no stack", async (t) => {
  const { url, log } = await startGatewayUnderTest(t, {}, { hasLogin: true, logLevel: "info" });
  const startCount = log.length;
  for (const [path, headers, body] of Object.values(refused)) {
    for (let i = 0; i < 20; i++) {
      await requestHttp2(url, { path, headers, body });
      await requestOver["1.1"](url, { path, headers, body });
    }
  }
  const lines = log.slice(startCount);
  t.ok(lines.length > 0);
  t.ok(lines.length <= 8 * 5, `${lines.length} lines`);
  for (const line of lines) {
    t.ok(JSON.stringify(line).length < 1000);
    t.notOk("err" in line, JSON.stringify(line));
  }
});
