import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { binary, json } from "../harness/carriers.ts";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { requestHttp2, requestOver } from "../harness/raw-request.ts";

const invalid = JSON.stringify({ name: "" });

/** Returns everything in an answer as one text. */
function textOf({ headers, trailers, body }: Awaited<ReturnType<typeof requestHttp2>>): string {
  return JSON.stringify([headers, trailers, body.toString("latin1")]);
}

test("a listener with `errorDetails: false` sends only the code and the message", async (t) => {
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0", errorDetails: false }],
  });
  for (const { name, type, httpVersion, isEnveloped } of [...binary, ...json]) {
    const isJson = type.endsWith("json");
    const message = isJson ? Buffer.from(invalid) : Buffer.from([0x0a, 0x00]);
    const body = isEnveloped ? encodeEnvelope(0, message) : message;
    for (const path of ["/proto.LVService/CreateLV", "/proto.LVService/NoSuchMethod"]) {
      const answer = await requestOver[httpVersion](url, { path, headers: { "content-type": type }, body });
      const text = textOf(answer);
      t.notMatch(text, /ErrorInfo|grpc-status-details-bin/, `${name} ${path}`);
      t.match(text, /name|NoSuchMethod/, `${name} ${path} has a message`);
    }
  }
  const rest = await requestOver["1.1"](url, { method: "GET", path: "/api/v1/cluster?name=none" });
  t.match(rest.body.toString(), "google.rpc.ErrorInfo", "REST has its own error format");
});

test("without the key every error has its details", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  const headers = { "content-type": "application/grpc" };
  const body = encodeEnvelope(0, Buffer.from([0x0a, 0x00]));
  const answer = await requestHttp2(url, { path: "/proto.LVService/CreateLV", headers, body });
  t.match(textOf(answer), "grpc-status-details-bin");
});
