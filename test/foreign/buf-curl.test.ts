import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fromBinary } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { runTool, startTool } from "./tool-process.ts";
import { changedFreeBytes } from "./watch-output.ts";

const root = resolve(import.meta.dirname, "../..");
const buf = join(root, "tools/node_modules/.bin/buf");

async function startGateway(t: Test): Promise<{ url: string; socket: string }> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const socket = join(directory, "socket");
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0" }, { address: `unix:${socket}` }],
  });
  return { url, socket };
}

for (const protocol of ["connect", "grpc", "grpcweb"]) {
  // Reflection uses a bidirectional stream, which over cleartext needs HTTP/2 from the first byte.
  const flags = ["curl", "--protocol", protocol, "--http2-prior-knowledge"];

  test(`buf curl over ${protocol}, with reflection`, { timeout: 900_000 }, async (t) => {
    const { url, socket } = await startGateway(t);

    await t.test("lists methods", async (t) => {
      for (const reflection of ["grpc-v1", "grpc-v1alpha"]) {
        const { stdout, stderr } = await runTool(buf, [
          ...flags,
          ...["--reflect-protocol", reflection, "--list-methods", url],
        ]);
        t.equal(stderr, "");
        t.match(stdout, "proto.VGService/GetLVList\n");
      }
    });

    await t.test("calls over TCP and over a unix socket", async (t) => {
      for (const way of [
        [`${url}/proto.VGService/GetFreeBytes`],
        ["--unix-socket", socket, `http://localhost/proto.VGService/GetFreeBytes`],
      ]) {
        const { stdout, stderr } = await runTool(buf, [...flags, ...way]);
        t.match(JSON.parse(stdout || "{}"), { freeBytes: /^\d+$/ }, stderr);
      }
    });

    await t.test("shows an error with its details", async (t) => {
      const { code, stderr } = await runTool(buf, [
        ...flags,
        ...["-d", '{"name": "sandbox-web", "sizeGb": 1}', `${url}/proto.LVService/CreateLV`],
      ]);
      // buf's exit code is 8 times the gRPC code.
      t.equal(code, 6 * 8);
      const error = JSON.parse(stderr) as { code: string; message: string; details: { value: string }[] };
      t.match(error, { code: "already_exists", message: "sandbox-vg/sandbox-web already exists" });
      const [detail] = error.details;
      const info = fromBinary(ErrorInfoSchema, Buffer.from(detail?.value ?? "", "base64"));
      t.match(info, { reason: "VOLUME_EXISTS", domain: "hostplane" });
    });

    await t.test("reads a stream while it is running", async (t) => {
      const watch = startTool(t, buf, [...flags, `${url}/proto.VGService/Watch`]);
      await watch.waitFor(/^}$/m);
      await runTool(buf, [...flags, "-d", '{"name": "b", "sizeGb": 1}', `${url}/proto.LVService/CreateLV`]);
      await watch.waitFor(changedFreeBytes);
    });
  });
}

for (const protocol of ["connect", "grpcweb"]) {
  test(`buf curl over ${protocol} and HTTP/1.1, with the schema`, { timeout: 900_000 }, async (t) => {
    const { url } = await startGateway(t);
    const flags = ["curl", "--protocol", protocol, "--schema", root];
    const { stdout, stderr } = await runTool(buf, [...flags, `${url}/proto.VGService/GetFreeBytes`]);
    t.match(JSON.parse(stdout || "{}"), { freeBytes: /^\d+$/ }, stderr);
    const watch = startTool(t, buf, [...flags, `${url}/proto.VGService/Watch`]);
    await watch.waitFor(/^}$/m);
  });
}
