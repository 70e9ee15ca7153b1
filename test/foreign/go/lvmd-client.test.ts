import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import http2 from "node:http2";
import net, { type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import tap, { type Test, test } from "tap";
import { createAuthorityRewriter } from "../../../server/rpc/listener/http2-authority/authority-rewriter.ts";
import { startGatewayUnderTest } from "../../server/harness/gateway-under-test.ts";
import { systemTool } from "../foreign-tool.ts";
import { buildGoClient, type GoCall, type GrpcGoVersion } from "./build-client.ts";

tap.setTimeout(900_000);
const { skip } = await systemTool("go");

const versions: readonly GrpcGoVersion[] = ["1.32", "current"];
const freeBytes: GoCall = { method: "/proto.VGService/GetFreeBytes" };

/** Starts a server that answers every call with NOT_FOUND and the received authority as the message. */
async function startBareServer(t: Test, socketPath: string, wrap: (socket: Socket) => Duplex): Promise<void> {
  const server = http2.createServer();
  server.on("stream", (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
    stream.on("error", () => {});
    stream.respond(
      {
        ":status": 200,
        "content-type": "application/grpc",
        "grpc-status": "5",
        "grpc-message": encodeURIComponent(headers[":authority"] ?? ""),
      },
      { endStream: true },
    );
  });
  const sockets = new Set<Socket>();
  const listener = net.createServer((socket) => {
    sockets.add(socket);
    server.emit("connection", wrap(socket));
  });
  t.teardown(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    listener.close();
  });
  await once(listener.listen(socketPath), "listening");
}

async function makeDirectory(t: Test): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  return directory;
}

for (const version of versions) {
  test(`grpc-go ${version} that dials a socket by its path`, { skip, timeout: 900_000 }, async (t) => {
    const directory = await makeDirectory(t);
    const client = await buildGoClient(version, directory);

    await t.test("works with the gateway on a unix socket", async (t) => {
      const socketPath = join(directory, "lvmd.sock");
      await startGatewayUnderTest(t, {
        listen: [{ address: `unix:${socketPath}`, services: ["proto.LVService", "proto.VGService"] }],
      });
      const name = "grpc-go";
      const results = await client(socketPath, [
        freeBytes,
        { method: "/proto.VGService/GetLVList", request: { deviceClass: "no-such-class" } },
        { method: "/proto.LVService/CreateLV", request: { name, sizeGb: "1", tags: ["from=go"] } },
        { method: "/proto.LVService/ResizeLV", request: { name, sizeGb: "2" } },
        { method: "/proto.VGService/GetLVList" },
        { method: "/proto.VGService/Watch", max: 1 },
        { method: "/proto.LVService/ResizeLV", request: { name, sizeGb: "1" } },
        { method: "/proto.LVService/RemoveLV", request: { name } },
        freeBytes,
        { method: "/proto.VGService/Watch", timeoutMs: 3_000 },
      ]);
      t.same(
        results.map(({ code }) => code),
        ["OK", "NotFound", "OK", "OK", "OK", "OK", "OutOfRange", "OK", "OK", "DeadlineExceeded"],
      );
      const [free, unknown, created, , list, watched, , , freeAfter, watchedOn] = results;
      t.match(unknown?.message, "no-such-class");
      t.match(created?.responses, [{ volume: { name, sizeGb: "1" } }]);
      const { volumes } = (list?.responses[0] ?? { volumes: [] }) as { volumes: { name: string }[] };
      t.match(
        volumes.find((volume) => volume.name === name),
        { sizeGb: "2", tags: ["from=go"] },
      );
      t.match(watched?.responses, [{ freeBytes: /^\d+$/, items: [{ freeBytes: /^\d+$/ }] }]);
      t.match(
        watchedOn?.responses[0],
        { freeBytes: /^\d+$/ },
        "the first message of a stream arrives at once",
      );
      t.same(freeAfter?.responses, free?.responses);
    });

    await t.test("gets the code of an error", async (t) => {
      const socketPath = join(directory, "refusals.sock");
      await startGatewayUnderTest(t, {
        listen: [{ address: `unix:${socketPath}`, services: ["proto.LVService", "proto.VGService"] }],
      });
      const create = "/proto.LVService/CreateLV";
      const results = await client(socketPath, [
        { method: create, request: { name: "sandbox-web", sizeGb: "1" } },
        { method: create, request: { name: "large", sizeGb: "1000" } },
        { method: create, request: { name: "empty" } },
        { method: "/proto.LVService/ResizeLV", request: { name: "missing", sizeGb: "1" } },
        { method: "/proto.LVService/RemoveLV", request: { name: "missing" } },
        { method: "/proto.LVService/RemoveLV", request: { name: "sandbox-db" } },
        { method: "/hostplane.v1.SystemService/GetInfo" },
        { method: "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" },
      ]);
      t.same(
        results.map(({ code }) => code),
        [
          ...[
            "AlreadyExists",
            "ResourceExhausted",
            "InvalidArgument",
            "NotFound",
            "OK",
            "FailedPrecondition",
          ],
          ...["Unimplemented", "Unimplemented"],
        ],
      );
      t.match(results[0]?.message, "sandbox-vg/sandbox-web already exists");
    });

    await t.test("sends the path as its authority", async (t) => {
      const socketPath = join(directory, "bare.sock");
      await startBareServer(t, socketPath, createAuthorityRewriter);
      const authority = version === "1.32" ? socketPath.replaceAll("/", "-") : encodeURIComponent(socketPath);
      const results = await client(socketPath, [freeBytes, freeBytes]);
      t.same(
        results.map(({ code, message }) => [code, message]),
        [
          ["NotFound", authority],
          ["NotFound", authority],
        ],
      );
    });

    await t.test("is rejected by Node itself if it does not encode the path", async (t) => {
      const socketPath = join(directory, "plain.sock");
      await startBareServer(t, socketPath, (socket) => socket);
      const [result] = await client(socketPath, [freeBytes]);
      t.match(
        result,
        version === "1.32" ? { code: "Internal", message: /PROTOCOL_ERROR/ } : { code: "NotFound" },
      );
    });
  });
}
