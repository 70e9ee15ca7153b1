import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Test, test } from "tap";
import { startGatewayUnderTest } from "../server/harness/gateway-under-test.ts";
import { systemTool } from "./foreign-tool.ts";
import { runTool, startTool } from "./tool-process.ts";
import { changedFreeBytes } from "./watch-output.ts";

const { path: curl, skip } = await systemTool("curl");

const json = ["-H", "content-type: application/json"];
const list = "proto.VGService/GetLVList";
const watch = "proto.VGService/Watch";

async function startGateway(t: Test): Promise<{ url: string; socket: string }> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-"));
  t.teardown(() => rm(directory, { recursive: true }));
  const socket = join(directory, "socket");
  const { url } = await startGatewayUnderTest(t, {
    listen: [{ address: "127.0.0.1:0" }, { address: `unix:${socket}` }],
  });
  return { url, socket };
}

/** @returns the HTTP status and version, and the body */
async function get(args: readonly string[], input?: Uint8Array) {
  const format = "\n%{http_code} %{http_version}";
  const { stdout, stderr } = await runTool(
    curl,
    ["--silent", "--show-error", "--write-out", format, ...args],
    input === undefined ? {} : { input },
  );
  const end = stdout.lastIndexOf("\n");
  return { body: stdout.slice(0, end), status: stdout.slice(end + 1), stderr };
}

for (const [version, flag] of [
  ["1.1", "--http1.1"],
  ["2", "--http2-prior-knowledge"],
] as const) {
  test(`curl over HTTP/${version}`, { skip }, async (t) => {
    const { url, socket } = await startGateway(t);

    await t.test("posts and gets JSON", async (t) => {
      const posted = await get([flag, ...json, "-d", "{}", `${url}/${list}`]);
      t.equal(posted.status, `200 ${version}`, posted.stderr);
      t.match(JSON.parse(posted.body), { volumes: [{ name: "sandbox-web", sizeGb: "2" }] });
      const gotten = await get([flag, `${url}/${list}?connect=v1&encoding=json&message=%7B%7D`]);
      t.equal(gotten.status, `200 ${version}`);
      t.same(gotten.body, posted.body);
      const prefixed = await get([flag, ...json, "-d", "{}", `${url}/api/${list}`]);
      t.same(prefixed.body, posted.body);
    });

    await t.test("posts over a unix socket", async (t) => {
      const way = [flag, "--unix-socket", socket];
      const { body, status } = await get([...way, ...json, "-d", "{}", `http://localhost/${list}`]);
      t.equal(status, `200 ${version}`);
      t.match(JSON.parse(body), { volumes: [{ name: "sandbox-web" }] });
    });

    await t.test("gets an error that says what was wrong", async (t) => {
      const wrong = await get([flag, ...json, "-d", '{"size": 1}', `${url}/proto.LVService/CreateLV`]);
      t.equal(wrong.status, `400 ${version}`);
      t.match(JSON.parse(wrong.body), {
        code: "invalid_argument",
        details: [{ debug: { reason: "UNKNOWN_FIELD" } }],
      });
      const unknown = await get([flag, ...json, "-d", "{}", `${url}/proto.VGService/Nothing`]);
      t.equal(unknown.status, `404 ${version}`);
      t.match(JSON.parse(unknown.body), { code: "unimplemented" });
    });

    await t.test("calls a REST route with form parameters", async (t) => {
      const pool = `${url}/api/v1/cluster/pool`;
      const put = ["-X", "PUT", "-d", '{"clusterName": "blue", "node_pool": []}'];
      for (const more of [[], ["-H", "transfer-encoding: chunked"], ["--compressed"]]) {
        const { body, status } = await get([flag, ...more, ...put, pool]);
        t.equal(status, `400 ${version}`);
        t.match(JSON.parse(body), {
          code: 3,
          details: [{ reason: "UNKNOWN_FIELD" }, { field_violations: [{ field: "node_pool" }] }],
        });
      }
      const query = ["-G", "-X", "DELETE", "--data-urlencode", "node_pool_name=a b"];
      const removed = await get([flag, ...query, pool]);
      t.equal(removed.status, `400 ${version}`);
      t.match(JSON.parse(removed.body), { message: /^node_pool_name: / });
      const head = await get([flag, "--head", pool]);
      t.equal(head.status, `405 ${version}`);
    });

    await t.test("gets the first message of a stream at once", async (t) => {
      const stream = startTool(
        t,
        curl,
        [
          ...["--silent", "--no-buffer", flag, "-H", "content-type: application/connect+json"],
          ...["--data-binary", "@-", `${url}/${watch}`],
        ],
        { input: Buffer.from("\0\0\0\0\x02{}") },
      );
      await stream.waitFor(/"freeBytes":"\d+"/);
      await get([flag, ...json, "-d", '{"name": "curled", "sizeGb": 1}', `${url}/proto.LVService/CreateLV`]);
      await stream.waitFor(changedFreeBytes);
    });
  });
}

test("curl that accepts gzip in gRPC gets it for messages above the size limit", { skip }, async (t) => {
  const { url } = await startGateway(t);
  const flags = ["--http2-prior-knowledge", "-H", "content-type: application/grpc", "-H", "te: trailers"];
  const headers = async () => {
    const { body } = await get(
      [
        ...[...flags, "-H", "grpc-accept-encoding: gzip", "--data-binary", "@-"],
        ...["--dump-header", "-", "--output", "/dev/null", `${url}/${list}`],
      ],
      new Uint8Array(5),
    );
    return body;
  };
  t.match(await headers(), /grpc-status: 0/);
  const tags = Array.from({ length: 20 }, (_, index) => `tag-${index}-${"x".repeat(100)}`);
  const volume = JSON.stringify({ name: "many-tags", sizeGb: 1, tags });
  await get([...json, "-d", volume, `${url}/proto.LVService/CreateLV`]);
  t.match(await headers(), /grpc-encoding: gzip/);
});
