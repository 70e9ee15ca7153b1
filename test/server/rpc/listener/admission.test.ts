import * as net from "node:net";
import * as tls from "node:tls";
import { type Test, test } from "tap";
import { createAddressFilter, parseAddressRange } from "../../../../server/config/address-range.ts";
import { createListener } from "../../../../server/rpc/listener/listener.ts";
import { createCertificate } from "./certificate.ts";

/** Starts a listener on every address of the host, for IPv4 and IPv6. */
async function listen(t: Test, allowFrom: readonly string[], certificate?: { cert: Buffer; key: Buffer }) {
  const ranges = allowFrom.map(parseAddressRange).filter((range) => typeof range !== "string");
  const seen = { refused: [] as string[] };
  const listener = createListener({
    address: { kind: "tcp", host: "::", port: 0 },
    mode: 0o600,
    tls: certificate,
    isAddressAllowed: createAddressFilter(ranges),
    onConnectionRefused: (address, why) => seen.refused.push(`${address}: ${why}`),
    maxConcurrentStreams: 100,
    headerBytes: 16_384,
    keepAliveMs: 15_000,
    onRequest: (_request, response) => response.end("welcome"),
  });
  await listener.listen();
  t.teardown(() => listener.close(0));
  return { port: Number(listener.address().split(":").at(-1)), seen };
}

/** Sends a request before admission, and resolves with the answer when the connection closes. */
async function answerTo(socket: net.Socket): Promise<string> {
  let answer = "";
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.write("GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
  await new Promise((resolve) => socket.once("close", resolve));
  return answer;
}

test("an address that may connect is served, in either form that the socket reports", async (t) => {
  const four = await listen(t, ["127.0.0.0/8"]);
  // The socket reports it as ::ffff:127.0.0.1.
  t.match(await answerTo(net.connect(four.port, "127.0.0.1")), /welcome/);
  t.equal(await answerTo(net.connect(four.port, "::1")), "");
  t.match(four.seen.refused, [/^::1: its address is not in allowFrom$/]);
  const six = await listen(t, ["::1"]);
  t.match(await answerTo(net.connect(six.port, "::1")), /welcome/);
  t.equal(await answerTo(net.connect(six.port, "127.0.0.1")), "");
  const all = await listen(t, ["::/0"]);
  t.equal(await answerTo(net.connect(all.port, "127.0.0.1")), "", "IPv4 is not part of IPv6");
});

test("a connection from elsewhere is closed over TLS too, before the handshake", async (t) => {
  const certificate = await createCertificate("admission.test");
  const trust = { ca: certificate.cert, servername: "localhost", checkServerIdentity: () => undefined };
  const { port, seen } = await listen(t, ["127.0.0.2"], certificate);
  const refused = tls.connect({ port, host: "127.0.0.1", ...trust });
  let isSecure = false;
  refused.on("secureConnect", () => {
    isSecure = true;
  });
  t.equal(await answerTo(refused), "");
  t.notOk(isSecure);
  t.match(seen.refused, [/127\.0\.0\.1: its address/]);
  const socket = net.connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  t.match(await answerTo(tls.connect({ socket, ...trust })), /welcome/);
});
