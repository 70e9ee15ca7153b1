import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { errorFromAnswer } from "../harness/raw-error.ts";
import { requestOver } from "../harness/raw-request.ts";

/** Not more than a caller without a login may waste. */
const bodyBytes = 960 * 1024;

/** Methods that need no login, with content types of their requests. */
const targets = [
  { path: "/services.auth.AuthService/CheckToken", type: "application/grpc", httpVersion: "2" },
  { path: "/services.auth.AuthService/Login", type: "application/grpc+proto", httpVersion: "2" },
  { path: "/services.auth.AuthService/Login", type: "application/grpc-web+proto", httpVersion: "1.1" },
  // A spelling that only connect-es reads.
  { path: "/services.auth.AuthService/Login", type: "Application/grpc-web+proto", httpVersion: "1.1" },
  { path: "/grpc.health.v1.Health/Watch", type: "application/grpc", httpVersion: "2" },
  { path: "/grpc.health.v1.Health/Watch", type: "application/connect+json", httpVersion: "1.1" },
] as const;

/** Returns the CPU time of the process in milliseconds while `work` runs. */
async function cpuMsOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

test("a body of 200,000 empty envelopes costs no more than one that is refused for its size", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const zeros = Buffer.alloc(bodyBytes);
  const announced = Buffer.alloc(bodyBytes, encodeEnvelope(0, new Uint8Array(0)).fill(0x7f, 1));
  for (const { path, type, httpVersion } of targets) {
    const send = async (body: Buffer, reason: string) => {
      const answer = await requestOver[httpVersion](url, { path, headers: { "content-type": type }, body });
      t.equal(errorFromAnswer(answer)?.reason, reason, `${path} as ${type}`);
    };
    await send(announced, "MESSAGE_TOO_LARGE");
    await send(zeros, "REQUEST_CARDINALITY");
    const refusedMs = await cpuMsOf(() => send(announced, "MESSAGE_TOO_LARGE"));
    const zerosMs = await cpuMsOf(() => send(zeros, "REQUEST_CARDINALITY"));
    t.ok(zerosMs < 100 + 3 * refusedMs, `${zerosMs} ms of CPU, against ${refusedMs}`);
  }
});

test("a request to a method that needs no login has at most 16 KiB", async (t) => {
  const { url } = await startGatewayUnderTest(t, {}, { hasLogin: true });
  const path = "/services.auth.AuthService/Login";
  for (const type of ["application/json", "application/json; charset=UTF-8"]) {
    const body = JSON.stringify({ username: "a".repeat(16_384) });
    const answer = await requestOver["1.1"](url, { path, headers: { "content-type": type }, body });
    t.match(errorFromAnswer(answer), {
      reason: "MESSAGE_TOO_LARGE",
      message: /limit of 16384 bytes \(of requests to methods that need no login\)/,
    });
  }
});
